import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { CreateAccessKeyCommand, CreateRoleCommand, CreateUserCommand, IAMClient } from '@aws-sdk/client-iam';
import {
  CreateFunctionCommand,
  InvokeCommand,
  LambdaClient,
  waitUntilFunctionActiveV2,
} from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../tools/local/emulator/emulator.ts';
import { createRunDirectory, workDirectory } from '../../tools/local/paths.ts';
import { reachableByOthers } from '../support/programs/reachable-by-others.ts';

/** A ZIP file of index.js: `exports.handler = async () => process.env;`. */
const returnsItsEnvironment =
  'UEsDBBQAAAAAAAAAIQCt5/oXKgAAACoAAAAIAAAAaW5kZXguanNleHBvcnRzLmhhbmRsZXIgPSBhc3luYyAoKSA9PiBwcm9jZXNzLmVudjtQSwECFAMUAAAAAAAAACEAref6FyoAAAAqAAAACAAAAAAAAAAAAAAApAEAAAAAaW5kZXguanNQSwUGAAAAAAEAAQA2AAAAUAAAAAAA';

// MiniStack runs the code that it is sent, and pages in a browser and other users of the machine reach it.
describe.each([{ auth: false }, { auth: true }])('the emulator with IAM enforced: $auth', ({ auth }) => {
  let emulator: Emulator;
  beforeAll(async () => {
    const directory = await createRunDirectory(`emulator-access-${auth}`, new Date());
    emulator = await startEmulator({ auth, directory });
  });
  afterAll(() => emulator.stop());

  type Headers = Readonly<Record<string, string | readonly string[]>>;
  /** The status of a request that creates a role, which asks for no role to exist, or of one that posts to a path. */
  const statusOf = async (headers: Headers, path = '/') => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = (auth ? https : http).request(`${emulator.endpoint}${path}`, {
      // Otherwise the certificate is compared with the header Host.
      servername: 'localhost',
      method: 'POST',
      headers: { ...form, ...(headers as http.OutgoingHttpHeaders) },
    });
    sent.end(`Action=CreateRole&Version=2010-05-08&RoleName=${randomUUID()}&AssumeRolePolicyDocument={}`);
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer.statusCode as number;
  };
  const authorizationOf = (accessKeyId: string) =>
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0`;
  const signedWith = (accessKeyId: string) => ({ authorization: authorizationOf(accessKeyId) });

  test('has one root key, which is random, and no other', async () => {
    const { accessKeyId } = emulator.client.credentials;
    expect(accessKeyId).toMatch(/^LOCAL[0-9A-F]{32}$/);
    expect(await statusOf(signedWith(accessKeyId))).toBe(200);
    for (const other of ['test', '000000000000', '123456789012', `${accessKeyId}0`]) {
      expect([other, await statusOf(signedWith(other))]).toEqual([other, 403]);
    }
    expect(await statusOf({})).toBe(403);
    // The emulator reads the first of two.
    expect(await statusOf({ authorization: [authorizationOf('test'), 'Bearer none'] })).toBe(403);
    expect(await statusOf({}, `/?X-Amz-Credential=test/20260101/us-east-1/iam/aws4_request`)).toBe(403);
    await expect(new DynamoDBClient(emulator.client).send(new ListTablesCommand())).resolves.toBeDefined();
  });

  test('lets a role or user of the run in, by a key that nobody can derive', async () => {
    const iam = new IAMClient(emulator.client);
    const Statement = [
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
    ];
    const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    const { Role } = await iam.send(new CreateRoleCommand({ RoleName: 'own', AssumeRolePolicyDocument }));
    const lambda = new LambdaClient(emulator.client);
    const created = await lambda.send(
      new CreateFunctionCommand({
        FunctionName: 'own',
        Role: Role?.Arn,
        Runtime: 'nodejs22.x',
        Handler: 'index.handler',
        Code: { ZipFile: Buffer.from(returnsItsEnvironment, 'base64') },
      }),
    );
    await waitUntilFunctionActiveV2({ client: lambda, maxWaitTime: 60 }, { FunctionName: 'own' });
    const { Payload } = await lambda.send(new InvokeCommand({ FunctionName: 'own' }));
    const key = JSON.parse(Buffer.from(Payload ?? []).toString()).AWS_ACCESS_KEY_ID as string;
    // How MiniStack itself derives the key of a function.
    const derived = createHash('sha256')
      .update(`${created.FunctionArn}:${Role?.Arn}`)
      .digest('hex')
      .slice(0, 16);
    expect(await statusOf(signedWith(`ASIA${derived.toUpperCase()}`))).toBe(403);
    const functionKey = auth ? /^ASIA[0-9A-F]{32}$/ : new RegExp(emulator.client.credentials.accessKeyId);
    expect(key).toMatch(functionKey);
    await iam.send(new CreateUserCommand({ UserName: 'own' }));
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: 'own' }));
    // The user passes the guard, and may do nothing where IAM is enforced.
    const { AccessKeyId: accessKeyId = '', SecretAccessKey: secretAccessKey = '' } = AccessKey ?? {};
    const user = new STSClient({ ...emulator.client, credentials: { accessKeyId, secretAccessKey } });
    const identity = await user.send(new GetCallerIdentityCommand());
    expect(identity.Arn).toContain(auth ? ':user/own' : ':');
  });

  test('refuses what a page sends, even with that key', async () => {
    const signed = signedWith(emulator.client.credentials.accessKeyId);
    expect(await statusOf({ ...signed, origin: 'https://page.example' })).toBe(403);
    expect(await statusOf({ ...signed, origin: 'null' })).toBe(403);
    expect(await statusOf({ ...signed, host: 'page.example' })).toBe(403);
    expect(await statusOf({ ...signed, host: 'page.execute-api.localhost.example' })).toBe(403);
    expect(await statusOf({ ...signed, host: new URL(emulator.endpoint).host })).toBe(200);
  });

  test('passes the webhook on without a key, but not from a page', async () => {
    const webhook = '/_aws/execute-api/abc/$default/webhooks/provider';
    // There is no such API.
    expect(await statusOf({}, webhook)).toBe(404);
    expect(await statusOf({ origin: 'https://page.example' }, webhook)).toBe(403);
    expect(await statusOf(signedWith('test'), webhook)).toBe(403);
    // With IAM enforced, the route of an API checks who calls it.
    expect(await statusOf({}, `${webhook}/more`)).toBe(auth ? 404 : 403);
    expect(await statusOf({}, '/_ministack/reset')).toBe(403);
  });

  test('leaves no file that other users can reach', async () => {
    // The CDK CLI keeps access keys in its cache, for which it asks no mode: cdk-home/cache/accounts_partitions.json.
    expect(await reachableByOthers(workDirectory)).toEqual([]);
  });

  // The search for leaks reads all of each log.
  test('returns every event of a log that has more than a page', async () => {
    const logs = new CloudWatchLogsClient(emulator.client);
    const stream = { logGroupName: 'long', logStreamName: 'only' };
    await logs.send(new CreateLogGroupCommand(stream));
    await logs.send(new CreateLogStreamCommand(stream));
    const messages = Array.from({ length: 20_001 }, (_, index) => String(index));
    const logEvents = messages.map((message, index) => ({
      message,
      timestamp: 1_000 + Math.floor(index / 3),
    }));
    await logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
    const read: (string | undefined)[] = [];
    for await (const { events = [] } of paginateFilterLogEvents({ client: logs }, { logGroupName: 'long' }))
      read.push(...events.map(({ message }) => message));
    expect(read).toEqual(messages);
  });
});
