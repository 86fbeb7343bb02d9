import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { isProgrammingError } from '../../../lib/client/is-programming-error.ts';
import { discardBody } from '../terminal/answer-body.ts';
import { CliError, codeOf } from '../terminal/errors.ts';
import { replacePrivately } from '../terminal/private-files.ts';

/**
 * Where `npm start` serves, as `.cosecha/running.json` in the package has it while it runs. Only its owner can read the
 * file. The credentials are the emulator's own, which are worth nothing anywhere else.
 */
const schema = v.object({
  /** Of `npm start`. */
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  endpoint: v.pipe(v.string(), v.url()),
  region: v.string(),
  credentials: v.object({ accessKeyId: v.string(), secretAccessKey: v.string() }),
  apiUrl: v.exactOptional(v.pipe(v.string(), v.url())),
  sandboxControlUrl: v.exactOptional(v.pipe(v.string(), v.url())),
});
type LocalDeployment = Readonly<v.InferOutput<typeof schema>>;

const fileIn = (root: string): string => join(root, '.cosecha', 'running.json');

/** What the file has, or undefined without a readable one. Does not check that it still runs. */
export const readLocalDeployment = async (root: string): Promise<LocalDeployment | undefined> => {
  try {
    return v.parse(schema, JSON.parse(await readFile(fileIn(root), 'utf8')));
  } catch {
    return undefined;
  }
};

/** Whether anything listens there. An emulator that is busy, or that answers an error, does. */
const isServing = async ({ endpoint }: LocalDeployment): Promise<boolean> => {
  try {
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(5_000) });
    await discardBody(answer);
    return true;
  } catch (error) {
    if (isProgrammingError(error)) throw error;
    // fetch throws a TypeError for every failure of the network, with the cause: https://fetch.spec.whatwg.org/#fetch-method
    return codeOf((error as Error).cause) !== 'ECONNREFUSED';
  }
};

/** Whether a process has this id. It may be a later one than the id was written for. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/**
 * The file has room for one. It stays where `npm start` was killed, and then refuses nobody.
 * @throws {CliError} while another `npm start` of this checkout serves
 */
export const refuseSecondDeployment = async (root: string): Promise<void> => {
  const other = await readLocalDeployment(root);
  if (other === undefined || !isAlive(other.pid) || !(await isServing(other))) return;
  throw new CliError([
    `Another \`npm start\` of this checkout serves at ${other.endpoint}, as process ${other.pid}.`,
    `Use that one, or end it by Ctrl-C in its terminal or by \`kill ${other.pid}\`, and start again.`,
  ]);
};

/**
 * Writes the file.
 * @throws {CliError} while it describes another `npm start` that serves, and then leaves it as it is
 */
export const claimLocalDeployment = async (root: string, deployment: LocalDeployment): Promise<void> => {
  await refuseSecondDeployment(root);
  await replacePrivately(fileIn(root), `${JSON.stringify(deployment, undefined, 2)}\n`);
};

/** Removes the file, unless it describes another `npm start`. */
export const removeLocalDeployment = async (
  root: string,
  { endpoint }: Pick<LocalDeployment, 'endpoint'>,
): Promise<void> => {
  const written = await readLocalDeployment(root);
  if (written?.endpoint === endpoint) await rm(fileIn(root), { force: true });
};

/** The path at which MiniStack serves an HTTP API. */
const miniStackApiPath = '/_aws/execute-api/{apiId}/$default';

/**
 * Where an emulator serves an HTTP API, without a trailing slash. By path, as the host in the stack's output is a
 * `*.localhost`, which Node does not resolve.
 */
export const emulatorApiUrl = (endpoint: string, apiId: string, path = miniStackApiPath): string =>
  `${endpoint.replace(/\/+$/, '')}${path.replace('{apiId}', () => apiId).replace(/\/+$/, '')}`;

/** A URL of the API on AWS, such as the output WebhookUrl, as the emulator serves it: by its path. */
export const toEmulatorUrl = (base: string, url: string): string => `${base}${new URL(url).pathname}`;
