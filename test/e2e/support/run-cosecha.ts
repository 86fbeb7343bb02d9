import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateUserCommand,
  EntityAlreadyExistsException,
  IAMClient,
} from '@aws-sdk/client-iam';
import { inject } from 'vitest';
import { policiesFor } from '../../support/aws/documented-policies.ts';
import { keepAnswer } from '../leaks/kept-answers.ts';
import { answerMs } from '../time-limits.ts';

const { answersFile, client, caFile, outputs } = inject('cosecha');

const bin = fileURLToPath(new URL('../../../tools/cli/cosecha.js', import.meta.url));

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');

type Credentials = Record<string, string | undefined>;

/** A user with these managed policies of the stack and no other. */
const createUser = async (policies: readonly string[]): Promise<Credentials> => {
  const iam = new IAMClient(client);
  const UserName = policies.join('-');
  try {
    await iam.send(new CreateUserCommand({ UserName }));
  } catch (error) {
    // The test files that run the CLI share the users.
    if (!(error instanceof EntityAlreadyExistsException)) throw error;
  }
  for (const output of policies) {
    await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: outputs[output] }));
  }
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
  return { AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey };
};

const viewer = ['ViewerPolicyArn'];
const users: ReadonlyMap<string, Credentials> = new Map(
  await Promise.all(
    [viewer, [...viewer, 'OperatorPolicyArn'], [...viewer, 'OperatorPolicyArn', 'AdminPolicyArn']].map(
      async (policies) => [policies.join(), await createUser(policies)] as const,
    ),
  ),
);

/** The user who may run this command, by docs/cli.md, and nothing that needs a further policy. */
const userFor = (args: readonly string[]): Credentials => users.get(policiesFor(page, args).join()) ?? {};

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

const start = (args: readonly string[], credentials: Credentials, timeout = 0) =>
  spawn(process.execPath, [bin, '--stage', 'local', ...args], {
    timeout,
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

const run = async (args: readonly string[], input: string, credentials: Credentials): Promise<Ran> => {
  const child = start(args, credentials, 2 * answerMs);
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

/** Runs the CLI until it exits, as a user with exactly the policies of the command in docs/cli.md. */
export const cosecha = (args: readonly string[], input = ''): Promise<Ran> => run(args, input, userFor(args));

/** Runs the CLI as a user who may only call the API. */
export const cosechaAsCaller = (args: readonly string[]): Promise<Ran> => {
  const { accessKeyId, secretAccessKey } = inject('cosecha').callers.caller;
  return run(args, '', { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
};

/** Starts the CLI as `cosecha` does. The caller ends the process. */
export const startCosecha = (args: readonly string[]) => start(args, userFor(args));

/** Runs a command that serves until it is stopped, and returns the address that it prints. */
export const cosechaServing = async (args: readonly string[]) => {
  const child = startCosecha([...args, '--json']);
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
