import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  EntityAlreadyExistsException,
  IAMClient,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import { inject } from 'vitest';
import { keepAnswer } from '../leaks/answers.ts';

const { answersFile, client, caFile, outputs } = inject('cosecha');

const bin = fileURLToPath(new URL('../../../tools/cli/cosecha.js', import.meta.url));

/** The policy of docs/cli.md with this deployment's values, adapted to the emulator. */
const documentedPolicy = (): string => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const policy = /```json\n(\{\n {2}"Version"[\s\S]*?)```/.exec(page)?.[1] ?? '';
  const values: Record<string, string | undefined> = {
    ...outputs,
    ...{ region: client.region, account: '000000000000', stage: 'local' },
  };
  return (
    policy
      .replace(/<(\w+)>/g, (_, name: string) => values[name] ?? `unknown-${name}`)
      // The emulator names the default bus in a rule's ARN, AWS does not
      // (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridge.html).
      .replaceAll(':rule/', ':rule/default/')
      // CloudFormation names a log group by stack and resource, as every other resource. The emulator puts a path before.
      .replace(':log-group:Cosecha-local-*', ':log-group:/aws/cloudformation/Cosecha-local/*')
      // The emulator authorizes reading a stream against "*", AWS against the stream's ARN.
      .replace(/"[^"]*\/stream\/\*"/, '"*"')
  );
};

/** A user with the policy of docs/cli.md and no other. */
const createOperator = async () => {
  const iam = new IAMClient(client);
  const UserName = 'operator';
  try {
    await iam.send(new CreateUserCommand({ UserName }));
  } catch (error) {
    // The test files that run the CLI share the user.
    if (!(error instanceof EntityAlreadyExistsException)) throw error;
  }
  await iam.send(
    new PutUserPolicyCommand({ UserName, PolicyName: 'operate', PolicyDocument: documentedPolicy() }),
  );
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
  return { AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey };
};

const operator = await createOperator();

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

const start = (args: readonly string[], credentials: Record<string, string | undefined>) =>
  spawn(process.execPath, [bin, '--stage', 'local', ...args], {
    env: {
      PATH: process.env.PATH,
      AWS_ENDPOINT_URL: client.endpoint,
      AWS_REGION: client.region,
      NODE_EXTRA_CA_CERTS: caFile,
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...credentials,
    },
  });

const run = async (
  args: readonly string[],
  input: string,
  credentials: Record<string, string | undefined>,
): Promise<Ran> => {
  const child = start(args, credentials);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += String(chunk);
  });
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  const body = output.stdout + output.stderr;
  keepAnswer(answersFile, { request: `cosecha ${args[0]}`, status: code, headers: {}, body });
  return { code, ...output };
};

/** Runs the CLI as the operator, until it exits. */
export const cosecha = (args: readonly string[], input = ''): Promise<Ran> => run(args, input, operator);

/** Runs the CLI as a user who may only call the API. */
export const cosechaAsCaller = (args: readonly string[]): Promise<Ran> => {
  const { accessKeyId, secretAccessKey } = inject('cosecha').callers.caller;
  return run(args, '', { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
};

/** Starts the CLI as the operator. The caller ends the process. */
export const startCosecha = (args: readonly string[]) => start(args, operator);

/** Runs the CLI until its output satisfies `isThere`, then ends it. `ready`: it has written to standard error. */
export const cosechaUntil = (args: readonly string[], isThere: (stdout: string) => boolean) => {
  const child = start(args, operator);
  const ready = Promise.withResolvers<void>();
  const found = Promise.withResolvers<string>();
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    ready.resolve();
  });
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
    if (isThere(stdout)) found.resolve(stdout);
  });
  child.once('close', () => found.reject(new Error(`The CLI exited early: ${stdout}${stderr}`)));
  const ended = found.promise.finally(() => child.kill());
  // It may reject before the caller awaits it.
  ended.catch(() => undefined);
  return { ready: ready.promise, found: ended };
};

/** Runs a command that serves until it is stopped, and returns the address that it prints. */
export const cosechaServing = async (args: readonly string[]) => {
  const child = start([...args, '--json'], operator);
  const closed = once(child, 'close');
  const printed = Promise.race([once(child.stdout, 'data'), closed.then(() => [''])]);
  const [line] = (await printed) as [Buffer | string];
  const { url } = JSON.parse(String(line)) as { readonly url: string };
  return {
    url,
    stop: async () => {
      child.kill();
      await closed;
    },
  };
};

/** The JSON lines that --json printed. */
export const factsOf = ({ stdout }: Pick<Ran, 'stdout'>): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
