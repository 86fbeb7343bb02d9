import { once } from 'node:events';
import { request } from 'node:http';
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../tools/local/emulator/emulator.ts';
import { createRunDirectory } from '../../tools/local/paths.ts';

// MiniStack runs the code that it is sent, and pages in a browser and other users of the machine reach it.
describe('the emulator of `npm start`', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator({
      auth: false,
      directory: await createRunDirectory('emulator-access', new Date()),
    });
  });
  afterAll(() => emulator.stop());

  /** The status of a request that lists tables, or posts to a path. */
  const statusOf = async (headers: Readonly<Record<string, string>>, path = '/') => {
    const target = { 'content-type': 'text/plain', 'x-amz-target': 'DynamoDB_20120810.ListTables' };
    const sent = request(`${emulator.endpoint}${path}`, {
      method: 'POST',
      headers: { ...target, ...headers },
    });
    sent.end('{}');
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer.statusCode as number;
  };
  const signedWith = (accessKeyId: string) => ({
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
  });

  test('runs only what has the access key of its run, or of a role that was assumed with it', async () => {
    const { accessKeyId } = emulator.client.credentials;
    expect(await statusOf(signedWith(accessKeyId))).toBe(200);
    for (const other of ['test', '000000000000', `${accessKeyId}0`]) {
      expect([other, await statusOf(signedWith(other))]).toEqual([other, 403]);
    }
    expect(await statusOf({})).toBe(403);
    const role = { RoleArn: 'arn:aws:iam::000000000000:role/any', RoleSessionName: 'any' };
    const { Credentials } = await new STSClient(emulator.client).send(new AssumeRoleCommand(role));
    expect(await statusOf(signedWith(Credentials?.AccessKeyId ?? ''))).toBe(200);
    await expect(new DynamoDBClient(emulator.client).send(new ListTablesCommand())).resolves.toBeDefined();
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
    expect(await statusOf({}, `${webhook}/more`)).toBe(403);
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
