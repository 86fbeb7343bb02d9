import { readdirSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { fail, stubClient } from '#support/aws/stub-client.ts';
import { httpServer } from '#support/programs/stub-servers.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import type { StreamRecord } from '#tools/cli/aws/follow-stream.ts';
import { dynamoStreamReader } from '#tools/cli/listen/dynamo-stream-reader.ts';
import { type ForwardDeps, forwardEvent } from '#tools/cli/listen/forward-event.ts';
import { asLambdaEvent, lambdaFailureIn } from '#tools/cli/listen/lambda-event.ts';
import {
  defaultStateFile,
  type ListenState,
  readListenState,
  writeListenState,
} from '#tools/cli/listen/listen-state.ts';
import { schemaViolations } from '../../../docs/contract-schemas.ts';
import { documentedRecords } from '../../../docs/documented-records.ts';

const readerOf = (answer: Parameters<typeof stubClient>[0]) => {
  const { client, sent } = stubClient<DynamoDBStreamsClient>(answer);
  return { reader: dynamoStreamReader(client, 'arn', new AbortController().signal), sent };
};

test('a shard is opened at its end, at its start, or after a record', async () => {
  const { reader, sent } = readerOf(() => ({ ShardIterator: 'i' }));
  for (const at of ['newest', 'oldest', { after: '7' }] as const) await reader.open('shard-1', at);
  const shard = { StreamArn: 'arn', ShardId: 'shard-1' };
  expect(sent.map(({ input }) => input)).toEqual([
    { ...shard, ShardIteratorType: 'LATEST' },
    { ...shard, ShardIteratorType: 'TRIM_HORIZON' },
    { ...shard, ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: '7' },
  ]);
});

test.each([
  [{ name: 'ExpiredIteratorException' }, { kind: 'expired' }],
  [{ name: 'TrimmedDataAccessException' }, { kind: 'trimmed' }],
  [{ name: 'LimitExceededException' }, { kind: 'unreachable' }],
  [{ name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }, { kind: 'unreachable' }],
  [{ name: 'Error', code: 'ECONNREFUSED' }, { kind: 'unreachable' }],
  [{ name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } }, { name: 'AccessDeniedException' }],
])('%j is %j', async (error, thrown) => {
  const { reader } = readerOf(() => fail(Object.assign(new Error('any'), error)));
  await expect(reader.read('i')).rejects.toMatchObject(thrown);
  await expect(reader.open('shard-1', 'oldest')).rejects.toMatchObject(thrown);
  await expect(reader.shards()).rejects.toMatchObject(thrown);
});

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const event = { kind: 'erased', extractionId: 'e-1', eventId: 'event-1', sequenceNumber: '1' };
const posted = { eventId: event.eventId, body: JSON.stringify(event) };

/** Forwards the event to a handler with these answers, one after the other. */
const forward = async (answers: readonly (number | Error)[], over: Partial<ForwardDeps> = {}) => {
  const queue = [...answers];
  const sent: { body: string; headers: Record<string, string>; redirect: unknown }[] = [];
  const pauses: number[] = [];
  const failures: string[] = [];
  const status = await forwardEvent(posted, {
    url: 'http://localhost:3000/hook',
    secret,
    fetch: async (_url, { body, headers, redirect }) => {
      sent.push({ body: String(body), headers: headers as Record<string, string>, redirect });
      const answer = queue.shift() ?? 200;
      if (answer instanceof Error) throw answer;
      return new Response(null, { status: answer });
    },
    now: () => new Date(),
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    onFailed: (answer) => void failures.push(answer),
    signal: new AbortController().signal,
    ...over,
  });
  return { status, sent, pauses, failures };
};

test('the event is the body, and a library of Standard Webhooks verifies its signature', async () => {
  const { status, sent } = await forward([204]);
  expect(status).toBe(204);
  const [{ body, headers, redirect }] = sent as [(typeof sent)[number]];
  expect(redirect).toBe('manual');
  expect(JSON.parse(body)).toEqual(event);
  expect(new Webhook(secret).verify(body, headers)).toEqual(event);
  expect(() => new Webhook(secret).verify(body.replace('erased', 'expired'), headers)).toThrow();
});

test('it is repeated with the same id until the answer is 2xx, at growing intervals of 30 s at most', async () => {
  const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
  const { status, sent, pauses, failures } = await forward([500, refused, 302, 404, 500, 500, 500]);
  expect(status).toBe(200);
  expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(['event-1']));
  expect(failures.slice(0, 4)).toEqual(['500', 'no answer (ECONNREFUSED)', '302', '404']);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

const handlers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  text: (response) => response.end('OK'),
  json: (response) => response.setHeader('content-type', 'application/json').end('{"ok":true}'),
  empty: (response) => response.end(),
  204: (response) => response.writeHead(204).end(),
  chunked: (response) => {
    response.write('one');
    response.write('two');
    response.end();
  },
  '10 MB': (response) => response.end(Buffer.alloc(10_000_000, 'x')),
  'a reset in the body': (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  },
};

describe.each(['', 'as Lambda'])('a real handler %s', (raw) => {
  const over = raw === '' ? { fetch } : { fetch, failureIn: lambdaFailureIn };

  test.each(Object.entries(handlers))('that answers 2xx with %s', async (name, answer) => {
    let calls = 0;
    const { baseUrl: url } = await httpServer((response) => {
      calls += 1;
      if (calls === 1) answer(response);
      else response.end();
    });
    const { status, failures } = await forward([], { ...over, url });
    expect(status).toBe(name === '204' ? 204 : 200);
    // As Lambda, the body says whether the function failed, so it has to come to its end.
    const isRepeated = raw !== '' && name === 'a reset in the body';
    expect({ calls, failures }).toEqual({
      calls: isRepeated ? 2 : 1,
      failures: isRepeated ? [expect.stringMatching(/^no answer \(/)] : [],
    });
  });
});

test('the beginning of the body of a refusal is shown in one line', async () => {
  const bodies = ['no such\n  order', '', 'x'.repeat(10_000_000)];
  const { baseUrl: url } = await httpServer((response) => {
    const body = bodies.shift();
    response.writeHead(body === undefined ? 200 : 500).end(body);
  });
  const { status, failures } = await forward([], { fetch, url });
  expect(status).toBe(200);
  expect(failures).toEqual(['500: no such order', '500', `500: ${'x'.repeat(200)}…`]);
});

test('an answer 2xx whose body is a failure is no acceptance', async () => {
  const results = ['the function failed', undefined];
  const { status, failures } = await forward([200, 200], { failureIn: () => results.shift() });
  expect({ status, failures }).toEqual({ status: 200, failures: ['the function failed'] });
});

test('an interruption ends the repetitions, and the event counts as not handled', async () => {
  const stop = new AbortController();
  const { signal } = stop;
  const { status, sent } = await forward([500, 500], { signal, sleep: async () => stop.abort() });
  expect({ status, tries: sent.length }).toEqual({ status: undefined, tries: 1 });
});

test('a record of the Streams API becomes the record that Lambda passes, also of a removal by time to live', () => {
  for (const [kind, lambda] of documentedRecords()) {
    const { eventSourceARN, dynamodb, ...record } = lambda as never as Record<
      string,
      Record<string, unknown>
    >;
    // The SDK has a Date, and no ARN of the stream.
    const seconds = Number(dynamodb?.ApproximateCreationDateTime);
    const read = { ...dynamodb, ApproximateCreationDateTime: new Date(seconds * 1_000) };
    const streamed = { ...record, dynamodb: read } as never as StreamRecord;
    expect([kind, asLambdaEvent(streamed, String(eventSourceARN))]).toEqual([kind, { Records: [lambda] }]);
    if (kind !== 'erased') continue;
    const expired = { ...streamed, userIdentity: { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' } };
    const [one] = asLambdaEvent(expired, 'arn').Records;
    expect(one).toMatchObject({ userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } });
    expect(decodeExtractionEvent(one as never).kind).toBe('expired');
    expect(schemaViolations('stream-record.json#/$defs/expired', one)).toEqual([]);
  }
});

test.each([
  ['{"batchItemFailures":[]}', undefined],
  ['null', undefined],
  ['OK', undefined],
  ['{"batchItemFailures":[{"itemIdentifier":"1"}]}', 'the function reported a failed record'],
  ['{"errorType":"Error","errorMessage":"failure","trace":[]}', 'the function failed'],
  ['Task timed out after 1.00 seconds', 'the function timed out'],
])('after the answer %s a record is repeated: %s', (body, failure) => {
  expect(lambdaFailureIn(body)).toBe(failure);
});

const state: ListenState = {
  streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
  secret: 'whsec_abc',
  progress: { since: '2026-11-22T10:00:00.000Z', positions: { 'shard-1': '7' } },
};

test('a state is read again, from a file that only its owner can read', async () => {
  const directory = join(temporaryDirectory(), 'new');
  const file = join(directory, 'listen.json');
  expect(await readListenState(file)).toBeUndefined();
  await writeListenState(file, state);
  expect(await readListenState(file)).toEqual(state);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['listen.json']);
});

test('a damaged file is not taken for a first run, and its content is not quoted', async () => {
  const file = join(temporaryDirectory(), 'damaged.json');
  writeFileSync(file, '{"secret":"whsec_SENTINEL');
  const failure = String(await readListenState(file).catch((error: unknown) => error));
  expect(failure).toContain('is not the state of a listener');
  expect(failure).not.toContain('SENTINEL');
});

test('each stage has its own file in the state directory of the user', () => {
  expect(defaultStateFile('prod', { XDG_STATE_HOME: '/state' })).toBe('/state/cosecha/listen-prod.json');
  expect(defaultStateFile('local', {})).toMatch(/\/\.local\/state\/cosecha\/listen-local\.json$/);
});
