import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as kms from '@aws-sdk/client-kms';
import * as s3 from '@aws-sdk/client-s3';
import * as secretsManager from '@aws-sdk/client-secrets-manager';
import * as sfn from '@aws-sdk/client-sfn';
import * as sqs from '@aws-sdk/client-sqs';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundleOptions, bundlePlugins } from '../../../../infra/bundle/bundle-functions.ts';
import { type AwsAnswer, type AwsRequest, type AwsStub, startAwsStub } from '../../../bench/cold/aws-stub.ts';
import type * as SdkCalls from './sdk-calls.ts';

const directory = mkdtempSync(join(tmpdir(), 'cosecha-sdk-'));

const load = async (name: string, plugins: ReturnType<typeof bundlePlugins>): Promise<typeof SdkCalls> => {
  const outfile = join(directory, name);
  const entryPoints = [join(import.meta.dirname, 'sdk-calls.ts')];
  await build({ ...bundleOptions, entryPoints, outfile, plugins });
  return createRequire(import.meta.url)(outfile) as typeof SdkCalls;
};

type Sent = { readonly target: string; readonly headers: object; readonly body: string };

/** Drops the headers that differ in every request. */
const withoutChance = ({ target, headers, body }: AwsRequest): Sent => {
  const { authorization, 'x-amz-date': date, 'amz-sdk-invocation-id': id, host, ...rest } = headers;
  return { target, headers: rest, body };
};

/** Successful answers by word. Every other word is the name of an error. */
const successes: Readonly<Record<string, object>> = {
  'an-item': {
    Item: { id: { S: 'one' }, n: { N: '12345678901234567890.5' }, l: { L: [{ NULL: true }] } },
    Attributes: { m: { M: { b: { B: 'dGV4dA==' }, t: { BOOL: true } } } },
    Items: [{ s: { SS: ['a', 'b'] } }],
  },
  'a-text': { SecretString: 'text', CreatedDate: 1_767_225_600.123, VersionStages: ['AWSCURRENT'] },
  'some-bytes': { CiphertextBlob: 'dGV4dA==', Plaintext: 'dGV4dA==' },
  'an-execution': { executionArn: 'arn', startDate: 1_767_225_600.5, status: 'RUNNING', input: '{}' },
  'a-message': { MessageId: 'm-1', MD5OfMessageBody: 'not compared' },
  'a-batch': { Successful: [], Failed: [{ Id: '0', Code: 'InternalError', SenderFault: false }] },
  nothing: {},
};

const wordOf = ({ body, url }: AwsRequest): string => {
  const path = new URL(url).pathname;
  if (path !== '/') return path.split('/').at(-1) ?? '';
  const asked = JSON.parse(body) as Readonly<Record<string, string>>;
  return (
    asked.TableName ??
    asked.KeyId ??
    asked.SecretId ??
    asked.executionArn ??
    asked.name ??
    asked.taskToken ??
    asked.QueueUrl ??
    ''
  );
};

/** Errors by name, with the status that the service's model gives them. */
type Errors = ReadonlyMap<string, 400 | 500>;

/** Every error that a client knows. */
const errorsOf = (client: object): Errors =>
  new Map(
    Object.entries(client)
      .filter(([name, value]) => value?.prototype instanceof Error && !name.endsWith('ServiceException'))
      .map(([name, KnownError]) => [name, new KnownError({}).$fault === 'server' ? 500 : 400]),
  );

const clients = {
  updateItem: dynamodb,
  getSecretValue: secretsManager,
  sendTaskSuccess: sfn,
  encrypt: kms,
  putObject: s3,
  sendMessage: sqs,
};
const known = Object.entries(clients).map(([operation, client]) => [operation, errorsOf(client)] as const);
const unknown: Errors = new Map([
  ['ValidationException', 400],
  ['RequestTimeTooSkewed', 400],
  ['InternalFailure', 500],
]);
const statuses: Errors = new Map([...known.flatMap(([, errors]) => [...errors]), ...unknown]);

const answer = (request: AwsRequest): AwsAnswer => {
  const word = wordOf(request);
  const status = statuses.get(word) ?? 400;
  const success = successes[word];
  if (new URL(request.url).pathname !== '/') {
    return success === undefined
      ? { status, body: `<Error><Code>${word}</Code><Message>Because.</Message></Error>` }
      : { status: 200, body: '' };
  }
  if (success !== undefined) return { status: 200, body: success };
  return {
    status,
    body: { __type: `com.amazonaws.any#${word}`, message: 'Because.', Item: { id: { S: 'old' } } },
  };
};

/** Everything of an outcome that the SDK's retries or Cosecha read. */
const outcomeOf = async (call: () => Promise<unknown>): Promise<object> => {
  try {
    return { result: await call() };
  } catch (error) {
    const { name, message, $fault, $retryable, $metadata } = error as sfn.SFNServiceException;
    const { totalRetryDelay, ...metadata } = $metadata;
    return { name, message, $fault, $retryable, metadata };
  }
};

type Run = { readonly outcome: object; readonly sent: readonly Sent[] };

let stub: AwsStub;

/** Calls an operation once for each word, concurrently. */
const runAll = async (
  sdk: typeof SdkCalls,
  operation: string,
  words: readonly string[],
): Promise<ReadonlyMap<string, Run>> => {
  stub.take();
  const call = sdk.callsWith(stub.certificate)[operation];
  const outcomes = await Promise.all(words.map((word) => outcomeOf(async () => call?.(word))));
  const sent = stub.take();
  return new Map(
    words.map((word, index) => [
      word,
      {
        outcome: outcomes[index] ?? {},
        sent: sent.filter((request) => wordOf(request) === word).map(withoutChance),
      },
    ]),
  );
};

const run = async (sdk: typeof SdkCalls, operation: string, word: string): Promise<Run | undefined> =>
  (await runAll(sdk, operation, [word])).get(word);

let bundled: typeof SdkCalls;
let plain: typeof SdkCalls;

beforeAll(async () => {
  stub = await startAwsStub(answer);
  vi.stubEnv('AWS_ENDPOINT_URL', stub.endpoint);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'a-token');
  // As on Lambda, where these files do not exist.
  vi.stubEnv('AWS_CONFIG_FILE', join(directory, 'none'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(directory, 'none'));
  bundled = await load('bundled.cjs', bundlePlugins());
  plain = await load('plain.cjs', []);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await stub.close();
  rmSync(directory, { recursive: true });
});

describe('with and without the plugins:', () => {
  test.each([
    ['getItem', 'an-item'],
    ['putItem', 'nothing'],
    ['query', 'an-item'],
    ['updateItem', 'an-item'],
    ['encrypt', 'some-bytes'],
    ['decrypt', 'some-bytes'],
    ['putObject', 'nothing'],
    ['presignGetObject', 'nothing'],
    ['getSecretValue', 'a-text'],
    ['startExecution', 'an-execution'],
    ['sendTaskSuccess', 'nothing'],
    ['sendTaskFailure', 'nothing'],
    ['sendMessage', 'a-message'],
    ['sendMessageBatch', 'a-batch'],
  ])('%s sends the same request and parses the answer %s', async (operation, word) => {
    const expected = await run(plain, operation, word);
    expect(expected?.outcome).toHaveProperty('result');
    expect(expected?.sent).toHaveLength(operation === 'presignGetObject' ? 0 : 1);
    expect(await run(bundled, operation, word)).toEqual(expected);
  });

  test.each(known)(
    '%s throws the same for each error of its service, after as many retries',
    async (operation, errors) => {
      expect(errors.size).toBeGreaterThan(10);
      const words = [...errors.keys(), ...unknown.keys()];
      const expected = await runAll(plain, operation, words);
      for (const [name, { outcome }] of expected)
        expect(outcome).toMatchObject({ name, message: 'Because.' });
      expect(await runAll(bundled, operation, words)).toEqual(expected);
    },
    60_000,
  );
});

test.each([
  ['updateItem', 'ConditionalCheckFailedException'],
  ['getSecretValue', 'ResourceNotFoundException'],
  ['startExecution', 'ExecutionAlreadyExists'],
  ['sendTaskSuccess', 'InvalidToken'],
  ['sendTaskSuccess', 'TaskDoesNotExist'],
  ['sendTaskFailure', 'TaskTimedOut'],
])('%s throws an instance of the class that the code imports: %s', async (operation, name) => {
  const error = await bundled
    .callsWith(stub.certificate)
    [operation]?.(name)
    .catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(bundled.named[name]);
  if (name === 'ConditionalCheckFailedException') expect(error).toHaveProperty('Item', { id: { S: 'old' } });
});
