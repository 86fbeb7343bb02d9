import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as kms from '@aws-sdk/client-kms';
import * as s3 from '@aws-sdk/client-s3';
import * as secretsManager from '@aws-sdk/client-secrets-manager';
import * as sfn from '@aws-sdk/client-sfn';
import * as sqs from '@aws-sdk/client-sqs';
import { AwsV4Signer } from 'aws4fetch';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Bundles,
  bundleFunctions,
  bundleOptions,
  withoutSlowCode,
} from '../../../../infra/bundle/bundle-functions.ts';
import { contracts, type FunctionName, functionNames } from '../../../../infra/lambda/contracts.ts';
import { type AwsAnswer, type AwsRequest, type AwsStub, startAwsStub } from '../../../bench/cold/aws-stub.ts';
import { answerDelivery, callsOfDelivery, delivery } from '../../../bench/cold/delivery-fixture.ts';
import { timings } from '../../../support/data/extraction-fixtures.ts';
import { functionsOf, propertiesOf, statementsOf, statementsOfRole, synthesize } from '../synth.ts';
import type * as SdkCalls from './sdk-calls.ts';

/**
 * The most bytes of each bundle, about 2 % above the measured size, so that a change that adds more has to raise it here.
 */
const budgets: Readonly<Record<FunctionName, number>> = {
  'request-extraction': 296_000,
  'get-extraction': 367_000,
  'start-task': 405_000,
  'dispatch-starts': 275_000,
  'receive-webhook': 313_000,
  'reconcile-extraction': 470_000,
  'sweep-extractions': 261_500,
  'erase-extractions': 385_000,
  'manage-consents': 240_000,
  'manage-erasures': 276_000,
  'publish-events': 219_500,
};

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-bundles-'));
afterAll(() => rmSync(workspace, { recursive: true }));

let bundles: Bundles<FunctionName>;
beforeAll(async () => {
  bundles = await bundleFunctions(join(workspace, 'one'));
});

const fileOf = (name: FunctionName, of = bundles): string => join(of.code[name], 'index.js');

const { template } = synthesize({ callersMayErase: 'true', publishEvents: 'true' });
const functions = functionsOf(template);

test.each(functionNames)('%s is within its budget of bytes', (name) => {
  const { length } = readFileSync(fileOf(name));
  expect(length).toBeLessThanOrEqual(budgets[name]);
  // If this fails, lower the budget.
  expect(length).toBeGreaterThan(budgets[name] * 0.95);
});

test.each(functionNames)(
  '%s loads with the environment of its function, and exports a handler of two arguments at most',
  async (name) => {
    const script = `console.log(require(${JSON.stringify(fileOf(name))}).handler.length)`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
      env: { AWS_REGION: 'eu-west-1', ...functions.get(name)?.variables },
    });
    // A third one would be a callback, which Node 24 on Lambda refuses:
    // https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html
    expect(['0', '1', '2']).toContain(stdout.trim());
  },
);

// Lambda deletes each message that the answer does not name.
test('reconcile-extraction consumes every message of a batch: those that it cannot read stay in the queue', async () => {
  const Records = ['one', 'two', 'three'].map((messageId) => ({ messageId, body: 'no message of ours' }));
  const script = `require(${JSON.stringify(fileOf('reconcile-extraction'))})
    .handler(${JSON.stringify({ Records })}, { getRemainingTimeInMillis: () => 60_000 })
    .then((answer) => console.log('\\n' + JSON.stringify(answer)))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
    env: { AWS_REGION: 'eu-west-1', ...functions.get('reconcile-extraction')?.variables },
  });
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
  });
});

test('the same sources give the same bytes, so that an unchanged function is not deployed again', async () => {
  const again = await bundleFunctions(join(workspace, 'another'));
  for (const name of functionNames) {
    expect(readFileSync(fileOf(name, again)).equals(readFileSync(fileOf(name)))).toBe(true);
  }
});

/** Types leave no trace in a bundle. */
const typesAlone = new Set(['lib/provider/transport/fetch-type.ts']);

test('the files of lib/provider that no function reaches say that they are of the published client', () => {
  const bundled = new Set(Object.keys(bundles.metafile.inputs));
  const files = readdirSync('lib/provider', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `lib/provider/${path}`);
  const saysSo = (file: string) => /^\/\*\*[^/]*published client/.test(readFileSync(file, 'utf8'));
  const unreached = files.filter((file) => !bundled.has(file) && !typesAlone.has(file));
  expect(files.filter(saysSo)).toEqual(unreached);
});

/** The packages, or files of them, whose code is in a bundle. */
const packagesIn = (name: FunctionName, pattern: RegExp): readonly string[] => {
  const [, output] =
    Object.entries(bundles.metafile.outputs).find(([path]) => path.endsWith(`${name}/index.js`)) ?? [];
  const found = Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => pattern.exec(path)?.[1] ?? '');
  return [...new Set(found)].filter((one) => one !== '').toSorted();
};

describe('a bundle has exactly the clients of the services that its function may call:', () => {
  /** The client of each service. */
  const clientOf: Readonly<Record<string, string>> = {
    dynamodb: 'client-dynamodb',
    events: 'client-eventbridge',
    kms: 'client-kms',
    lambda: 'client-lambda',
    s3: 'client-s3',
    secretsmanager: 'client-secrets-manager',
    sqs: 'client-sqs',
    states: 'client-sfn',
  };

  /** The runtime writes the logs. Lambda itself reads the stream for publish-events, and sends to its dead-letter queue. */
  const notCalled = (name: FunctionName) =>
    name === 'publish-events' ? ['logs', 'dynamodb', 'sqs'] : ['logs'];

  /** The services of identity and key policies, without those that another service calls (kms:ViaService). */
  const servicesOf = (role: string): readonly string[] => {
    const byRole = statementsOfRole(template, role).filter(
      ({ Condition }) => !JSON.stringify(Condition ?? '').includes('kms:ViaService'),
    );
    const byKey = propertiesOf(template, 'AWS::KMS::Key')
      .flatMap(({ KeyPolicy }) => statementsOf(KeyPolicy))
      .filter(({ Principal }) => JSON.stringify(Principal ?? '').includes(`"${role}`));
    return [...byRole, ...byKey].flatMap(({ Action }) =>
      [Action].flat().map((action) => action.split(':')[0] ?? ''),
    );
  };

  test.each(functionNames)('%s', (name) => {
    const services = new Set(servicesOf(`${functions.get(name)?.id}Role`));
    const expected = [...services]
      .filter((service) => !notCalled(name).includes(service))
      .map((service) => clientOf[service]);
    expect(expected.length).toBeGreaterThan(0);
    expect(packagesIn(name, /@aws-sdk\/(client-[^/]+)\//)).toEqual(expected.toSorted());
  });
});

/** Every variable that the product's own code reads. */
const variablesRead = ['functions', 'lib'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [
      ...readFileSync(join(folder, path), 'utf8').matchAll(/(?:requiredVariable|neededSetting)\('(\w+)'/g),
    ])
    .map(([, variable = '']) => variable),
);

test.each(functionNames)('%s reads exactly the variables of its contract', (name) => {
  const { settings, ...needed } = contracts[name];
  const variables = Object.keys(needed).filter((one) => one === one.toUpperCase());
  const text = readFileSync(fileOf(name), 'utf8');
  const read = new Set(variablesRead.filter((variable) => new RegExp(`["'\`]${variable}["'\`]`).test(text)));
  expect([...read].toSorted()).toEqual([...variables, ...settings].toSorted());
});

test.each(functionNames)('%s reads credentials only from its environment', (name) => {
  expect(packagesIn(name, /\/((?:credential-provider|token-provider|nested-clients)[^/]*)\//)).toEqual([
    'credential-provider-env',
  ]);
  expect(readFileSync(fileOf(name), 'utf8')).not.toMatch(
    /sso_session|AWS_CONTAINER_CREDENTIALS|credential_process/,
  );
});

describe('signing', () => {
  const credentials = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    sessionToken: 'a+session/token=of+Lambda',
  };

  const environment = {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    EXTRACTIONS_TABLE: 'Extractions',
    TASKS_TABLE: 'Tasks',
    REFUSALS_TABLE: 'Refusals',
    REFUSED_CREDENTIALS_DAYS: '7',
    WEBHOOK_SIGNING_KEY_SECRET: 'webhook-signing-key',
    SIGNING_KEY_REFRESH_SECONDS: '15',
    TIMINGS: JSON.stringify(timings),
    RECONCILE_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/111122223333/reconcile',
    POWERTOOLS_METRICS_NAMESPACE: 'Cosecha/test',
  };

  /** The expected signature over the signed headers of the request, computed by another implementation. */
  const signatureOf = async ({ url, headers, body }: AwsRequest): Promise<string | null> => {
    const authorization = headers.authorization ?? '';
    const [, scope = ''] = /Credential=AKIDEXAMPLE\/(\S+),/.exec(authorization) ?? [];
    const [, region = '', service = ''] = scope.split('/');
    const [, signed = ''] = /SignedHeaders=([^,]+),/.exec(authorization) ?? [];
    const names = signed.split(';').filter((name) => name !== 'host' && name !== 'x-amz-security-token');
    const signer = new AwsV4Signer({
      ...credentials,
      url,
      method: 'POST',
      body,
      region,
      service,
      datetime: String(headers['x-amz-date']),
      headers: names.map((name): [string, string] => [name, String(headers[name])]),
      allHeaders: true,
    });
    return (await signer.sign()).headers.get('authorization');
  };

  test("the webhook's bundle signs every call with the credentials of its environment, session token included", async () => {
    const stub = await startAwsStub(answerDelivery);
    try {
      const certificate = join(workspace, 'aws.pem');
      writeFileSync(certificate, stub.certificate);
      const script = `require(${JSON.stringify(fileOf('receive-webhook'))})
        .handler(${JSON.stringify(delivery)}, {})
        .then(({ statusCode }) => { console.log(statusCode); process.exit(); });`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
        env: { ...environment, AWS_ENDPOINT_URL: stub.endpoint, NODE_EXTRA_CA_CERTS: certificate },
      });
      expect(stdout.trimEnd().split('\n').at(-1)).toBe('204');

      const requests = stub.take();
      expect(requests.map(({ target }) => target)).toEqual(callsOfDelivery);
      for (const request of requests) {
        const { authorization } = request.headers;
        expect(request.headers['x-amz-security-token']).toBe(credentials.sessionToken);
        expect(authorization).toContain('x-amz-security-token');
        expect(authorization).toBe(await signatureOf(request));
      }
    } finally {
      await stub.close();
    }
  });
});

const load = async (name: string, options: Partial<BuildOptions>): Promise<typeof SdkCalls> => {
  const outfile = join(workspace, name);
  const entryPoints = [join(import.meta.dirname, 'sdk-calls.ts')];
  await build({ ...bundleOptions, entryPoints, outfile, ...options });
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
  },
  'a-text': { SecretString: 'text', CreatedDate: 1_767_225_600.123, VersionStages: ['AWSCURRENT'] },
  'some-bytes': { CiphertextBlob: 'dGV4dA==', Plaintext: 'dGV4dA==' },
  'an-execution': { executionArn: 'arn', startDate: 1_767_225_600.5, status: 'RUNNING', input: '{}' },
  'a-message': { MessageId: 'm-1', MD5OfMessageBody: 'not compared' },
  nothing: {},
};

const wordOf = ({ body, url }: AwsRequest): string => {
  const path = new URL(url).pathname;
  if (path !== '/') return path.split('/').at(-1) ?? '';
  const asked = JSON.parse(body) as Readonly<Record<string, string>>;
  const { TableName, KeyId, SecretId, name, taskToken, QueueUrl } = asked;
  return TableName ?? KeyId ?? SecretId ?? name ?? taskToken ?? QueueUrl ?? '';
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
  vi.stubEnv('AWS_CONFIG_FILE', join(workspace, 'none'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(workspace, 'none'));
  bundled = await load('bundled.cjs', withoutSlowCode());
  plain = await load('plain.cjs', {});
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await stub.close();
});

describe('with and without the plugins:', () => {
  test.each([
    ['getItem', 'an-item'],
    ['updateItem', 'an-item'],
    ['encrypt', 'some-bytes'],
    ['putObject', 'nothing'],
    ['presignGetObject', 'nothing'],
    ['getSecretValue', 'a-text'],
    ['startExecution', 'an-execution'],
    ['sendTaskSuccess', 'nothing'],
    ['sendMessage', 'a-message'],
  ])('%s sends the same request and parses the answer %s', async (operation, word) => {
    const expected = await runAll(plain, operation, [word]);
    expect(expected.get(word)?.outcome).toHaveProperty('result');
    expect(expected.get(word)?.sent).toHaveLength(operation === 'presignGetObject' ? 0 : 1);
    expect(await runAll(bundled, operation, [word])).toEqual(expected);
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
  ['sendTaskSuccess', 'TaskTimedOut'],
])('%s throws an instance of the class that the code imports: %s', async (operation, name) => {
  const error = await bundled
    .callsWith(stub.certificate)
    [operation]?.(name)
    .catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(bundled.named[name]);
  if (name === 'ConditionalCheckFailedException') expect(error).toHaveProperty('Item', { id: { S: 'old' } });
});
