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

const { client, caFile, outputs } = inject('cosecha');

const bin = fileURLToPath(new URL('../../../lib/cli/cosecha.js', import.meta.url));

/** The policy of docs/cli.md, for this deployment and as the emulator understands it. */
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
      // It names the default bus in a rule's ARN; on AWS it has none
      // (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridge.html).
      .replaceAll(':rule/', ':rule/default/')
      // It authorizes reading a stream against "*"; AWS against the stream's ARN.
      .replace(/"[^"]*\/stream\/\*"/, '"*"')
  );
};

/** A user that may do what docs/cli.md says an operator needs, and nothing else. */
const createOperator = async () => {
  const iam = new IAMClient(client);
  const UserName = 'operator';
  try {
    await iam.send(new CreateUserCommand({ UserName }));
  } catch (error) {
    // The files of the suite that operate share the user.
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
  const told = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    told.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    told.stderr += String(chunk);
  });
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...told };
};

/** Runs the real bin to its end, as the operator. */
export const cosecha = (args: readonly string[], input = ''): Promise<Ran> => run(args, input, operator);

/** The same as a user who may do nothing of the kind. */
export const cosechaAsCaller = (args: readonly string[]): Promise<Ran> => {
  const { accessKeyId, secretAccessKey } = inject('cosecha').callers.caller;
  return run(args, '', { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
};

/** Runs it until its output has this text, and ends it then. */
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
  child.once('close', () => found.reject(new Error(`It ended before that: ${stdout}${stderr}`)));
  const ended = found.promise.finally(() => child.kill());
  // Awaited later than it may fail.
  ended.catch(() => undefined);
  return { ready: ready.promise, found: ended };
};

/** What --json printed, a line each. */
export const factsOf = ({ stdout }: Pick<Ran, 'stdout'>): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
