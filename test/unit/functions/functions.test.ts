import type { SendMessageCommandInput } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { settledEvent } from '#lib/downstream/stream-records-for-tests.ts';
import type { CredentialsExtraction } from '#lib/extraction/record.ts';
import type { StartInput } from '#lib/extraction/start/start.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import type { FunctionName } from '../../../infra/lambda/contracts.ts';
import { fail } from '../../support/aws/stub-client.ts';
import { capturedLog } from '../../support/data/captured-log.ts';
import { at, consentIn, extraction, extractionIn, id, iso } from '../../support/data/extraction-fixtures.ts';
import { signatureHeader } from '../../support/data/signature-header.ts';
import { closedPort } from '../../support/programs/closed-port.ts';
import { httpServer } from '../../support/programs/stub-servers.ts';
import { storedRequest } from '../../support/stores/memory-request-store.ts';
import { functionsOf, required, synthesize } from '../infra/synth.ts';
import { load, stubAws, variablesOf } from './run-function.ts';

const log = capturedLog();

let aws: ReturnType<typeof stubAws>;
beforeEach(() => {
  aws = stubAws();
  const sealed = Buffer.from(JSON.stringify({ credentials: { mode: 'raw', value: { username: 'u' } } }));
  Object.assign(aws.answers, {
    EncryptCommand: { CiphertextBlob: sealed },
    DecryptCommand: { Plaintext: sealed },
    StartExecutionCommand: {},
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const setTime = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: at(seconds) });

/** What was sent by these commands. */
const sentBy = (...names: readonly string[]) =>
  aws.sent.filter(({ name }) => names.includes(name)).map(({ input }) => input);

/** The messages to each queue, by the id of the queue. */
const messages = () =>
  sentBy('SendMessage').map((input) => {
    const { QueueUrl, MessageBody } = input as unknown as SendMessageCommandInput;
    return [QueueUrl?.split('/').at(-1), JSON.parse(MessageBody ?? '')];
  });

/**
 * The resources that a function knows by its environment, and that what it has sent by now did not name. `apart`: those that need another
 * answer of the provider, or a failure, and have a test of their own.
 */
const unnamed = (name: FunctionName, ...apart: readonly string[]): readonly string[] => {
  const sent = JSON.stringify(aws.sent);
  return Object.entries(variablesOf(name))
    .filter(([variable]) => /_(TABLE|BUCKET|URL|ARN|SECRET)$|^EVENT_BUS$|^DISPATCHER_NAME$/.test(variable))
    .filter(([variable, value]) => variable !== 'PROVIDER_BASE_URL' && !sent.includes(JSON.stringify(value)))
    .flatMap(([variable]) => (apart.includes(variable) ? [] : [variable]));
};

const caller = extraction().requestedBy;

/** An event of API Gateway. */
const requestOf = (routeKey: string, more: object = {}, userArn = `${caller}/session`) => ({
  routeKey,
  headers: {},
  requestContext: { authorizer: { iam: { userArn } } },
  ...more,
});

type Answer = { readonly statusCode: number; readonly body: string };

const messageOf = (body: object, queue = 'any') => ({
  messageId: '1',
  body: JSON.stringify(body),
  attributes: { ApproximateReceiveCount: '1' },
  eventSourceARN: `arn:aws:sqs:eu-west-1:111122223333:${queue}`,
});

/** A provider that answers each call by its path. */
const providerThat = (answers: Readonly<Record<string, string>>) =>
  httpServer((response, { url = '' }) => {
    const [, body] = Object.entries(answers).find(([path]) => url.includes(path)) ?? [];
    response.statusCode = body === undefined ? 404 : 200;
    response.end(body ?? '{}');
  });

describe('request-extraction', () => {
  const body = JSON.stringify({
    entity: 'bank',
    credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
    actions: [{ id: 'tef' }],
  });
  const post = (more: object) => requestOf('POST /extractions', more);

  test('seals, records and starts, each in its place, and counts a repeated request', async () => {
    setTime(0);
    const run = await load<object>('request-extraction', { PROVIDER_SENDS_WEBHOOKS: 'false' });
    const request = post({ body, headers: { 'idempotency-key': 'one' } });
    expect(await run(request)).toMatchObject({ statusCode: 202 });
    const [record] = aws.tables.Extractions.items.values() as Iterable<CredentialsExtraction>;
    // 128 random bits.
    const requestId = expect.stringMatching(/^[\w-]{22}$/);
    expect(record).toMatchObject({ status: 'REQUESTED', withoutWebhook: true, requestId });
    expect(aws.tables.Requests.items.get(record?.requestId ?? '')).toMatchObject({
      extractionId: record?.extractionId,
    });
    expect(await run(request)).toMatchObject({ statusCode: 200 });
    expect(unnamed('request-extraction')).toEqual([]);
    expect(sentBy('StartExecution')).toHaveLength(2);
  });

  test('logs the product of a request by consent, and not its consent', async () => {
    const run = await load<object>('request-extraction');
    const { method, product, consentId, variant } = consentIn('REQUESTED');
    await run(post({ body: JSON.stringify({ method, product, consentId, variant, target: '11111111-1' }) }));
    expect(log.lines()).toContain(`"product":"${product}"`);
    expect(log.lines()).not.toContain(consentId);
  });

  test('with webhooks, a record does not say that there are none; without a client, a consent is refused', async () => {
    const run = await load('request-extraction', { PROVIDER_CLIENT_ID: '' });
    await run(post({ body }));
    expect([...aws.tables.Extractions.items.values()][0]).not.toHaveProperty('withoutWebhook');
    const { method, product, consentId, variant } = consentIn('REQUESTED');
    const byConsent = JSON.stringify({ method, product, consentId, variant, target: '11111111-1' });
    expect(await run(post({ body: byConsent }))).toMatchObject({ statusCode: 501 });
  });
});

describe('get-extraction', () => {
  const collected = extractionIn('COMPLETED', {
    collectedAt: iso(40),
    results: { bucket: 'results', key: 'key', bytes: 1, sha256: '' },
  });
  const read = (userArn?: string) =>
    requestOf('GET /extractions/{extractionId}', { pathParameters: { extractionId: id } }, userArn);

  test('reads a record, with a link while the bucket has its results, for its caller and for readers', async () => {
    const run = await load<object>('get-extraction');
    aws.tables.Extractions.items.set(id, collected);
    const days = Number(variablesOf('get-extraction').RESULTS_RETENTION_DAYS);
    setTime(40 + days * 86_400 - 1);
    expect(((await run(read())) as Answer).body).toContain('X-Amz-Signature');
    const reader = 'arn:aws:sts::111122223333:assumed-role/reader/session';
    expect(await run(read(reader))).toMatchObject({ statusCode: 200 });
    // Who got a link to bank data.
    expect(log.lines()).toContain('"caller":"arn:aws:sts::111122223333:assumed-role/reader","linked":true');
    expect(await run(read(`${caller}-2/session`))).toMatchObject({ statusCode: 404 });
    setTime(40 + days * 86_400);
    expect(((await run(read())) as Answer).body).not.toContain('X-Amz-Signature');
  });

  test('finds by reference, and counts a batch by reads that may be a second old', async () => {
    const run = await load<object>('get-extraction');
    aws.tables.Extractions.items.set(id, { ...collected, reference: 'user', batch: 'first' });
    const found = (await run(
      requestOf('GET /extractions', { queryStringParameters: { reference: 'user' } }),
    )) as Answer;
    expect(found.body).toContain(id);
    const summary = requestOf('GET /extractions/summary', { queryStringParameters: { batch: 'first' } });
    expect(JSON.parse(((await run(summary)) as Answer).body)).toMatchObject({ extractions: 1 });
    const [{ RequestItems } = {}] = sentBy('BatchGetItem');
    expect(Object.values(RequestItems as object)).toMatchObject([{ ConsistentRead: false }]);
  });

  test('estimates when a start in line is made, by the rate that is set', async () => {
    setTime(0);
    const run = await load<object>('get-extraction');
    aws.tables.Extractions.items.set(id, extraction());
    const slot = `${caller}#interactive#bank#${iso(0)}#${id}`;
    const entry = { extractionId: id, requestId: 'request-1', line: 'line', slot, callbackToken: 'token' };
    aws.tables.StartLine.items.set(id, entry);
    const state = { lineUntil: at(60).getTime() };
    aws.tables.Breakers.items.set('rate', { name: 'rate', state, version: '1' });
    const { expectedStartAt } = JSON.parse(((await run(read())) as Answer).body);
    expect(expectedStartAt).toMatch(/^2026-03-01T12:00:0/);
    expect(unnamed('get-extraction')).toEqual([]);
  });
});

describe('manage-consents', () => {
  const list = () => requestOf('GET /consents', { headers: { 'cosecha-target': '11111111-1' } });

  test.each([
    ['of 4 MiB is passed on', 0, 200],
    ['above 4 MiB is not', 1, 502],
  ])('a list of consents %s', async (_, more, statusCode) => {
    const list4MiB = '{"data":{"consents":[],"hasNext":false,"count":0}}'.padEnd(4 * 2 ** 20);
    const consents = `${list4MiB}${' '.repeat(more)}`;
    const { baseUrl } = await providerThat({ token: '{"data":{"taskToken":"t"}}', consents });
    const run = await load<object>('manage-consents', { PROVIDER_BASE_URL: baseUrl });
    expect(await run(list())).toMatchObject({ statusCode });
    expect(log.lines()).toContain(`"route":"GET /consents","status":${statusCode}`);
    expect(unnamed('manage-consents')).toEqual([]);
  });
});

test('results are awaited no longer than they are collected, and a turn lasts longer than start-task', () => {
  const { template } = synthesize({ ...required, resultsLagSeconds: 900, collectForSeconds: 600 });
  const { TIMINGS = '', BREAKER = '' } = functionsOf(template).get('start-task')?.variables ?? {};
  const { resultsLag, collectFor, startTimeout } = JSON.parse(TIMINGS);
  expect([resultsLag, collectFor]).toEqual([600, 600]);
  expect(JSON.parse(BREAKER).turnSeconds).toBeGreaterThan(startTimeout);
});

describe('manage-erasures', () => {
  test('asks for an erasure in its table and its queue, and returns how far it is', async () => {
    const run = await load<object>('manage-erasures');
    aws.tables.Extractions.items.set(id, { ...extractionIn('COMPLETED'), reference: 'user' });
    const asked = (await run(requestOf('POST /erasures', { body: '{"reference":"user"}' }))) as Answer;
    expect(asked.statusCode).toBe(202);
    const { erasureId } = JSON.parse(asked.body);
    expect(messages()).toEqual([['<EraseQueue>', { search: { erasureId } }]]);
    const tombstone = { erasureId, item: `${id}/r`, extractionId: id, requestId: 'r' };
    aws.tables.Erasures.items.set('tombstone', tombstone);
    const progress = requestOf('GET /erasures/{erasureId}', { pathParameters: { erasureId } });
    expect(JSON.parse(((await run(progress)) as Answer).body)).toMatchObject({ found: 1, erased: 0 });
    await run(requestOf('POST /erasures', { body: JSON.stringify({ extractionId: id }) }));
    expect(unnamed('manage-erasures')).toEqual([]);
  });
});

test('erase-extractions erases from every place that may have something of it', async () => {
  setTime(9_900);
  const run = await load<object>('erase-extractions');
  const {
    dueShard: _shard,
    dueAt: _dueAt,
    ...closed
  } = extractionIn('COMPLETED', {
    collectedAt: iso(40),
    results: { bucket: 'results', key: 'key', bytes: 1, sha256: '' },
    expiresAt: 1,
  });
  aws.tables.Extractions.items.set(id, closed);
  aws.tables.Tasks.items.set('task-1', { taskId: 'task-1', extractionId: id, credentialsMac: 'mac' });
  const mark = { credentialsMac: 'mac', noticedAt: iso(1), isRefused: true };
  aws.tables.Refusals.items.set('mac', { ...mark, extractionIds: [id] });
  aws.tables.Requests.items.set('request-1', storedRequest(id));
  const place = { extractionId: id, requestId: 'request-1', callbackToken: 'token' };
  aws.tables.StartLine.items.set(id, place);
  const erase = { erasureId: 'erasure-1', extractionId: id, requestId: 'request-1' };
  aws.answers.ListObjectVersionsCommand = { Versions: [{ Key: `${id}/1.json`, VersionId: 'v' }] };
  expect(await run({ Records: [messageOf({ erase })] })).toEqual({ batchItemFailures: [] });
  const { Tasks, Erasures, ...emptied } = aws.tables;
  for (const { items } of Object.values(emptied)) expect([...items]).toEqual([]);
  expect(Tasks.items.get('task-1')).toMatchObject({ isErased: true });
  expect([...Erasures.items.values()]).toMatchObject([{ erasedAt: iso(9_900) }]);
  expect(sentBy('DeleteObject')).toContainEqual({
    Bucket: '<StorageResults>',
    Key: `${id}/1.json`,
    VersionId: 'v',
  });
  expect(sentBy('SendTaskSuccess')).toMatchObject([{ taskToken: 'token' }]);
  // One that runs is asked for again later.
  aws.tables.Extractions.items.set(id, extractionIn('RUNNING'));
  await run({ Records: [messageOf({ erase })] });
  expect(messages()).toEqual([['<EraseQueue>', { erase }]]);
  expect(unnamed('erase-extractions')).toEqual([]);
});

test('publish-events puts each outcome on the bus of the stack, from its source', async () => {
  const run = await load<object>('publish-events');
  expect(await run({ Records: [settledEvent()] })).toEqual({ batchItemFailures: [] });
  const [{ Entries: [entry] = [] } = {}] = sentBy('PutEvents') as { Entries?: { Detail: string }[] }[];
  expect(entry).toMatchObject({ EventBusName: variablesOf('publish-events').EVENT_BUS });
  expect(entry?.Detail).toContain('urn:cosecha:stack:Cosecha-prod');
});

describe('receive-webhook', () => {
  const body = JSON.stringify({ taskId: 'task-1', taskStatus: 'CREDENTIALS_WRONG', results: [] });
  const deliver = (key: string) => ({
    body,
    headers: { 'x-service-signature': signatureHeader(body, key) },
    isBase64Encoded: false,
  });
  const linked = { taskId: 'task-1', extractionId: id, callbackToken: 'token', credentialsMac: 'mac' };

  test('settles, marks, queues the collection and wakes the execution', async () => {
    setTime(30);
    const run = await load<object>('receive-webhook');
    aws.tables.Extractions.items.set(id, extractionIn('RUNNING'));
    aws.tables.Tasks.items.set('task-1', linked);
    expect(await run(deliver('key'))).toMatchObject({ statusCode: 204 });
    const { pollEvery } = JSON.parse(variablesOf('receive-webhook').TIMINGS ?? '');
    expect(aws.tables.Extractions.items.get(id)).toMatchObject({
      status: 'CREDENTIALS_WRONG',
      dueAt: iso(30 + pollEvery),
    });
    const days = Number(variablesOf('receive-webhook').REFUSED_CREDENTIALS_DAYS);
    expect(aws.tables.Refusals.items.get('mac')).toMatchObject({
      expiresAt: at(30).getTime() / 1_000 + days * 86_400,
    });
    expect(messages()).toMatchObject([['<ReconcileQueue>', { extractionId: id }]]);
    expect(sentBy('SendTaskSuccess')).toMatchObject([{ taskToken: 'token' }]);
    expect(unnamed('receive-webhook')).toEqual([]);
  });

  test('a rotated key is read after a mismatch, once in so many seconds', async () => {
    const run = await load<object>('receive-webhook');
    const seconds = Number(variablesOf('receive-webhook').SIGNING_KEY_REFRESH_SECONDS);
    setTime(0);
    expect(await run(deliver('key'))).toMatchObject({ statusCode: 204 });
    aws.answers[variablesOf('receive-webhook').WEBHOOK_SIGNING_KEY_SECRET ?? ''] = { SecretString: 'new' };
    setTime(seconds - 0.001);
    expect(await run(deliver('new'))).toMatchObject({ statusCode: 401 });
    setTime(seconds);
    expect(await run(deliver('new'))).toMatchObject({ statusCode: 204 });
  });
});

describe('sweep-extractions', () => {
  test('leases and sends what is due, and leaves the rest when 15 s are left', async () => {
    setTime(100);
    const run = await load<object>('sweep-extractions');
    aws.tables.Extractions.items.set(id, extractionIn('RUNNING', { dueAt: iso(50) }));
    expect(await run({}, () => 14_999)).toMatchObject({ sent: 0, cutShort: true });
    expect(await run({}, () => 15_000)).toMatchObject({ sent: 1, cutShort: false });
    expect(unnamed('sweep-extractions')).toEqual([]);
  });
});

describe('dispatch-starts', () => {
  test('releases who waits at the rate that is set, and counts who is left', async () => {
    vi.useFakeTimers({ now: at(0) });
    const run = await load<object>('dispatch-starts');
    const waiting = ['a', 'b'].map((one) => ({
      extractionId: one,
      requestId: one,
      slot: `${caller}#interactive#bank#${iso(0)}#${one}`,
      callbackToken: `token-${one}`,
    }));
    for (const one of waiting) aws.tables.StartLine.items.set(one.extractionId, { ...one, line: 'line' });
    let left = 16_000;
    let failures = 1;
    aws.answers.SendTaskSuccessCommand = () => (failures-- > 0 ? fail(new Error('throttled')) : {});
    const ended = run({ trigger: 'schedule' }, () => left);
    await vi.advanceTimersByTimeAsync(100);
    expect(await run({}, () => 9_000)).toEqual({ end: 'leased', released: 0 });
    for (let second = 0; second < 8; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      left -= 1_000;
    }
    expect(await ended).toEqual({ end: 'time-is-over', released: 2 });
    // The first answer was lost, and a later tick repeats it.
    expect(sentBy('SendTaskSuccess').map(({ taskToken }) => taskToken)).toEqual([
      'token-a',
      'token-b',
      'token-a',
    ]);
    expect(aws.tables.StartLine.items.get('a')).not.toHaveProperty('line');
    expect(log.lines()).toContain('"StartsInLine":0');
    expect(unnamed('dispatch-starts')).toEqual([]);
  });
});

describe('start-task', () => {
  /** Starts the extraction, as if it were another one each time. */
  const startOnce = async (run: (input: StartInput) => Promise<unknown>, more: Partial<StartInput> = {}) => {
    aws.tables.Extractions.items.set(id, extraction());
    aws.tables.Requests.items.set('request-1', storedRequest(id));
    aws.tables.Tasks.items.clear();
    const input = { extractionId: id, requestId: 'request-1', callbackToken: 'token', callbackAttempt: 0 };
    await run({ ...input, ...more } as StartInput).catch(() => undefined);
    return aws.tables.Extractions.items.get(id);
  };

  const emptyAnswer = '{"token":"session","taskId":"task-1","more":""}';

  /** A provider that accepts every login and every start, with an answer of so many bytes more. */
  const accepting = async (moreBytes = 0, variables = {}) => {
    const answer = emptyAnswer.replace('""', `"${'x'.repeat(moreBytes)}"`);
    const { baseUrl, seen } = await httpServer((response, { url = '' }) =>
      response.end(url.includes('tasks') ? answer : '{"token":"session"}'),
    );
    return { seen, run: await load<StartInput>('start-task', { PROVIDER_BASE_URL: baseUrl, ...variables }) };
  };

  test('makes one start, of unsealed credentials, and links its task', async () => {
    setTime(0);
    const { seen, run } = await accepting();
    const { startTimeout, pollFirst } = JSON.parse(variablesOf('start-task').TIMINGS ?? '');
    expect([startTimeout, pollFirst].every((seconds) => seconds > 0)).toBe(true);
    expect(await startOnce(run)).toMatchObject({ status: 'RUNNING', taskId: 'task-1' });
    expect(JSON.parse(seen[1]?.body ?? '')).toMatchObject({
      credentials: { mode: 'raw', value: { username: 'u' } },
    });
    expect(aws.tables.Tasks.items.get('task-1')).toMatchObject({ callbackToken: 'token' });
    expect(aws.tables.Requests.items.size).toBe(0);
    expect(unnamed('start-task', 'RECONCILE_QUEUE_URL', 'START_LINE_TABLE', 'DISPATCHER_NAME')).toEqual([]);
  });

  test('queues and wakes what it has to end itself, and fails what the machine has to retry', async () => {
    setTime(0);
    const { run } = await accepting();
    aws.tables.Tasks.items.set('x', {});
    const early = { taskId: 'task-1', taskStatus: 'COMPLETED', notifiedAt: iso(0), firstStatus: 'COMPLETED' };
    aws.tables.Extractions.items.set(id, extraction());
    aws.tables.Requests.items.set('request-1', storedRequest(id));
    aws.tables.Tasks.items.set('task-1', early);
    const input = { extractionId: id, requestId: 'request-1', callbackToken: 'token', callbackAttempt: 0 };
    await run(input as StartInput);
    expect(messages()).toMatchObject([['<ReconcileQueue>', { extractionId: id }]]);
    expect(sentBy('SendTaskSuccess')).toMatchObject([{ taskToken: 'token' }]);
    aws.answers[variablesOf('start-task').PROVIDER_API_KEY_SECRET ?? ''] = {};
    const { run: unfilled } = await accepting();
    await startOnce(unfilled);
    expect(sentBy('SendTaskFailure')).toMatchObject([{ taskToken: 'token' }]);
    expect(log.lines()).toContain('"SecretNotFilled":1');
    const { message } = new NotConfigured('secret', 'Cosecha-prod/provider-api-key');
    const line = log
      .lines()
      .split('\n')
      .find((one) => one.includes(message));
    expect(line).toContain(id);
  });

  test('waits in line behind the rate that is set, and wakes the dispatcher', async () => {
    setTime(0);
    const { seen, run } = await accepting();
    aws.tables.Breakers.items.set('permit', { name: 'permit', next: at(1).getTime() });
    await startOnce(run, { entry: 0 });
    expect(seen).toEqual([]);
    expect(aws.tables.StartLine.items.get(id)).toMatchObject({ requestId: 'request-1' });
    expect(sentBy('Invoke')).toMatchObject([{ FunctionName: variablesOf('start-task').DISPATCHER_NAME }]);
  });

  test.each([
    ['of 64 KiB names its task', 65_536, 'RUNNING'],
    ['above 64 KiB names none', 65_537, 'UNCONFIRMED'],
  ])('an answer %s', async (_, bytes, status) => {
    const { run } = await accepting(bytes - emptyAnswer.length);
    setTime(0);
    expect(await startOnce(run)).toMatchObject({ status });
  });

  test('makes no call for which the time would not be enough', async () => {
    setTime(0);
    const { startTimeout } = JSON.parse(variablesOf('start-task').TIMINGS ?? '');
    const { total } = JSON.parse(variablesOf('start-task').PROVIDER_TIMEOUTS ?? '');
    const { baseUrl, seen } = await httpServer((response) => {
      setTime(startTimeout - total / 1_000 + 0.1);
      response.end('{"token":"session"}');
    });
    const run = await load<StartInput>('start-task', { PROVIDER_BASE_URL: baseUrl });
    expect(await startOnce(run)).toMatchObject({ status: 'REQUESTED' });
    expect(seen).toHaveLength(1);
  });

  test('reads the consent of a refused start within 3 s', async () => {
    setTime(0);
    const timeouts = vi.spyOn(AbortSignal, 'timeout');
    const { baseUrl, seen } = await providerThat({ token: '{"data":{"taskToken":"t"}}' });
    const run = await load<StartInput>('start-task', { PROVIDER_BASE_URL: baseUrl });
    aws.tables.Extractions.items.set(id, consentIn('REQUESTED'));
    aws.tables.Requests.items.set('request-1', storedRequest(id));
    aws.answers.DecryptCommand = { Plaintext: Buffer.from('{"target":"11111111-1"}') };
    const input = { extractionId: id, requestId: 'request-1', callbackToken: 'token', callbackAttempt: 0 };
    await run(input as StartInput);
    expect(seen.at(-1)?.url).toContain('/consents/');
    expect(timeouts.mock.calls.at(-1)).toEqual([3_000]);
  });

  test('logs in anew before a start in a turn, although it has a session, and does not otherwise', async () => {
    const { seen, run } = await accepting();
    setTime(0);
    await startOnce(run);
    await startOnce(run);
    const login = '/api/v1/auth/login';
    const post = '/api/v2/tasks';
    expect(seen.map(({ url }) => url)).toEqual([login, post, post]);
    const failed = ['a', 'b', 'c', 'd', 'e'].map((one) => [one, at(1).getTime()]);
    const opened = { since: at(1).getTime(), pause: 30, turn: { at: at(5).getTime() } };
    aws.tables.Breakers.items.set(caller, {
      name: caller,
      state: { groups: [{ name: 'bank', failed, opened }] },
      version: '1',
    });
    setTime(5);
    await startOnce(run);
    expect(seen.slice(3).map(({ url }) => url)).toEqual([login, post]);
    // The accepted start closed the breaker: of the group only that time is left.
    const groups = [['bank', at(5).getTime()]];
    expect(aws.tables.Breakers.items.get(caller)).toMatchObject({ state: { groups } });
  });

  test.each([
    ['starts', 0],
    ['reads', 2],
  ])('while an operator pauses %s, makes %i calls', async (paused, made) => {
    const { seen, run } = await accepting();
    const state = { [paused]: { since: 1, reason: 'maintenance' } };
    aws.tables.Breakers.items.set('operator', { name: 'operator', state, version: '1' });
    setTime(0);
    await startOnce(run);
    expect(seen).toHaveLength(made);
  });

  test('makes no call for credentials that are marked as refused, under the MAC that it stores in Tasks', async () => {
    const { seen, run } = await accepting();
    setTime(5);
    await startOnce(run);
    const made = seen.length;
    const { credentialsMac } = aws.tables.Tasks.items.get('task-1') ?? {};
    expect(credentialsMac).toMatch(/^[0-9a-f]{32}$/);
    const mark = { extractionId: 'another', noticedAt: iso(1), isRefused: true, expiresAt: 1e11 };
    aws.tables.Refusals.items.set(String(credentialsMac), { credentialsMac, ...mark });
    expect(await startOnce(run)).toMatchObject({ status: 'REJECTED' });
    expect(seen).toHaveLength(made);
  });
});

describe('reconcile-extraction', () => {
  const answer = JSON.stringify({
    taskId: 'task-1',
    taskStatus: 'COMPLETED',
    results: { actions: [{ id: 'product-balance', status: 'COMPLETED', data: {} }] },
  });
  const due = (queue = '<ReconcileQueue>') => ({
    Records: [messageOf({ extractionId: id, cause: 'due' }, queue)],
  });
  const running = () => {
    aws.tables.Extractions.items.set(id, extractionIn('RUNNING', { dueAt: iso(100) }));
    aws.tables.Tasks.items.set('task-1', { taskId: 'task-1', extractionId: id, callbackToken: 'token' });
    setTime(100);
  };

  test.each([
    ['reconcile queue, and moves to the slow queue', '<ReconcileQueue>', 5_000, { extractionId: id }],
    ['slow queue, and stays there', '<ReconcileQueueSlow>', undefined, { dueAt: expect.any(String) }],
  ])('gives each call of a read the time of its queue: %s', async (_, queue, brief, sent) => {
    running();
    const timeouts = vi.spyOn(AbortSignal, 'timeout');
    const run = await load<object>('reconcile-extraction', {
      PROVIDER_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
    });
    expect(await run(due(queue))).toEqual({ batchItemFailures: [] });
    const { total } = JSON.parse(variablesOf('reconcile-extraction').PROVIDER_TIMEOUTS ?? '');
    expect(timeouts.mock.calls).toEqual([[brief ?? total]]);
    expect(messages()).toMatchObject([['<ReconcileQueueSlow>', { cause: 'due', ...sent }]]);
  });

  test('stores what it reads in the bucket, closes, and wakes the execution', async () => {
    running();
    const { baseUrl } = await providerThat({ login: '{"token":"session"}', tasks: answer });
    const run = await load<object>('reconcile-extraction', {
      PROVIDER_BASE_URL: baseUrl,
      RESULTS_MAX_BYTES: String(answer.length),
    });
    await run(due());
    expect(aws.tables.Extractions.items.get(id)).toMatchObject({
      status: 'COMPLETED',
      results: { bucket: '<StorageResults>' },
    });
    expect(sentBy('PutObject')).toMatchObject([{ Bucket: '<StorageResults>' }]);
    expect(log.lines()).toMatch(/"Reconcile finished\."?.*"invoker":"queue"/);
  });

  test('takes an answer of one byte more than RESULTS_MAX_BYTES for oversized', async () => {
    running();
    const { baseUrl } = await providerThat({ login: '{"token":"session"}', tasks: answer });
    const run = await load<object>('reconcile-extraction', {
      PROVIDER_BASE_URL: baseUrl,
      RESULTS_MAX_BYTES: String(answer.length - 1),
    });
    await run(due());
    expect(aws.tables.Extractions.items.get(id)).toHaveProperty('oversizedAt');
  });

  test('reads a consent with its target, and nothing while an operator pauses reads', async () => {
    aws.tables.Extractions.items.set(id, consentIn('RUNNING', { dueAt: iso(100), deadlineAt: iso(9_000) }));
    aws.tables.Requests.items.set('request-1', storedRequest(id));
    aws.answers.DecryptCommand = { Plaintext: Buffer.from('{"target":"11111111-1"}') };
    setTime(100);
    const { baseUrl, seen } = await providerThat({ token: '{"data":{"taskToken":"t"}}' });
    const run = await load<object>('reconcile-extraction', { PROVIDER_BASE_URL: baseUrl });
    const state = { reads: { since: 1, reason: 'maintenance' } };
    aws.tables.Breakers.items.set('operator', { name: 'operator', state, version: '1' });
    await run(due());
    expect(seen).toEqual([]);
    aws.tables.Breakers.items.clear();
    setTime(1_000);
    aws.tables.Extractions.items.set(id, consentIn('RUNNING', { dueAt: iso(1_000), deadlineAt: iso(9_000) }));
    await run(due());
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      target: '11111111-1',
      clientId: variablesOf('reconcile-extraction').PROVIDER_CLIENT_ID,
    });
    expect(messages()).toMatchObject([
      ['<ReconcileQueue>', {}],
      ['<ReconcileQueueSlow>', {}],
    ]);
  });

  test('names the extraction in the line of a failure', async () => {
    const run = await load<object>('reconcile-extraction');
    vi.spyOn(aws.tables.Extractions.client, 'send').mockImplementation(() => fail(new Error('throttled')));
    await expect(run({ extractionId: id, trigger: 'operator' })).rejects.toThrow();
    expect(log.lines()).toContain(`"extractionId":"${id}"`);
  });

  test('cancels what is not started, in line too', async () => {
    setTime(100);
    const run = await load<object>('reconcile-extraction');
    aws.tables.Extractions.items.set(id, extraction());
    aws.tables.Requests.items.set('request-1', storedRequest(id));
    const place = { extractionId: id, requestId: 'request-1', callbackToken: 'token', waitingSince: iso(1) };
    aws.tables.StartLine.items.set(id, { ...place, waitedMs: 0 });
    const answer = { extractionId: id, status: 'NOT_STARTED', cancelled: true };
    expect(await run({ extractionId: id, trigger: 'cancel' })).toEqual(answer);
    const ended = { status: 'NOT_STARTED', reason: 'cancelled', lastProblem: 'cancelled', advice: 'none' };
    expect(aws.tables.Extractions.items.get(id)).toMatchObject({ ...ended, isFinal: true });
    expect(aws.tables.StartLine.items.size + aws.tables.Requests.items.size).toBe(0);
    expect(sentBy('SendTaskSuccess')).toMatchObject([{ taskToken: 'token' }]);
    expect(log.lines()).toContain('"invoker":"cancel"');
  });
});
