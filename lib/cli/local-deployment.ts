import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

/**
 * Where `npm start` serves, as `.cosecha/running.json` in the package has it while it runs. Only its owner can read the
 * file. The credentials are the emulator's own, which are worth nothing anywhere else.
 */
export type LocalDeployment = {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
};

const schema = v.object({
  endpoint: v.pipe(v.string(), v.url()),
  region: v.string(),
  credentials: v.object({ accessKeyId: v.string(), secretAccessKey: v.string() }),
});

const fileIn = (root: string): string => join(root, '.cosecha', 'running.json');

/** What the file has, or undefined without a readable one. Does not check that it still runs. */
export const readLocalDeployment = async (root: string): Promise<LocalDeployment | undefined> => {
  try {
    return v.parse(schema, JSON.parse(await readFile(fileIn(root), 'utf8')));
  } catch {
    return undefined;
  }
};

/** Writes the file. It replaces that of an `npm start` which runs already. */
export const writeLocalDeployment = async (root: string, deployment: LocalDeployment): Promise<void> => {
  // An existing file would keep its mode, so it is removed first.
  await rm(fileIn(root), { force: true });
  await writeFile(fileIn(root), `${JSON.stringify(deployment, undefined, 2)}\n`, { mode: 0o600 });
};

/** Removes the file, unless another `npm start` has replaced it. */
export const removeLocalDeployment = async (root: string, { endpoint }: LocalDeployment): Promise<void> => {
  const written = await readLocalDeployment(root);
  if (written?.endpoint === endpoint) await rm(fileIn(root), { force: true });
};
