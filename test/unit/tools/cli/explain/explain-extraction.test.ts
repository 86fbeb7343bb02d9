import { expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { logMessages } from '#lib/observability/log-messages.ts';
import { denied } from '#support/browser/console-fixtures.ts';
import { at, closedExtraction, extractionIn, id, iso, timings } from '#support/data/extraction-fixtures.ts';
import { progressOf, tryingOf } from '#tools/cli/explain/execution-progress.ts';
import { explainExtraction } from '#tools/cli/explain/explain-extraction.ts';
import type { Period, StorySources } from '#tools/cli/explain/sources.ts';
import { type Waiting, whatToDo } from '#tools/cli/explain/what-to-do.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';
import {
  bounded,
  event,
  failed,
  inLine,
  inReconcile,
  inStartTask,
  type KnownValues,
  linkedTask,
  logLine,
  settings,
  sourcesWith,
} from './story-fixtures.ts';

const again = (seconds: number) => event(seconds, 'TaskScheduled');

const explain = (seconds: number, known: KnownValues) =>
  explainExtraction(sourcesWith(known), { extractionId: id, now: at(seconds), command: commandTextOf() });

test('an id that no source knows has no story, although the logs could not be read', async () => {
  expect(await explain(0, {})).toBeUndefined();
  expect(await explain(0, { logs: () => denied('logs:FilterLogEvents') })).toBeUndefined();
});

test('without a record, whether it was erased is known only if the execution can be read', async () => {
  expect(await explain(0, { execution: () => denied('states:GetExecutionHistory') })).toMatchObject({
    status: 'UNKNOWN',
    headline: expect.stringContaining('It never existed, was erased, or its retention is over'),
  });
});

test('a source without permission is named, and the rest is shown', async () => {
  const story = await explain(20, {
    record: extractionIn('RUNNING'),
    task: linkedTask(),
    execution: () => denied('states:GetExecutionHistory'),
    logs: () => denied('logs:FilterLogEvents'),
  });
  expect(story?.headline).toContain("Waits for the provider's webhook until 12:10:01Z");
  expect(story?.notShown).toEqual([
    "The execution's history: AWS does not allow arn:aws:iam::1:user/ana to states:GetExecutionHistory on r. That permission is missing; docs/cli.md names the policy of each command.",
    "The functions' logs: AWS does not allow arn:aws:iam::1:user/ana to logs:FilterLogEvents on r. That permission is missing; docs/cli.md names the policy of each command.",
  ]);
});

test('without the record the story is of what the other sources have', async () => {
  const story = await explain(20, { record: () => denied('dynamodb:GetItem'), execution: inStartTask() });
  expect(story).toMatchObject({ status: 'UNKNOWN', headline: 'The record could not be read.' });
  expect(story?.lines.map(({ what }) => what)).toContain('Started the execution.');
});

test('a poll that AWS does not answer is none of the webhook', async () => {
  const execution = inReconcile(event(731, 'TaskTimedOut', { error: 'States.Timeout' }), again(735));
  const story = await explain(740, { record: extractionIn('RUNNING'), execution });
  const missed = story?.lines.filter(({ what }) => what.includes('in time')).map(({ what }) => what);
  expect(missed).toEqual(['No webhook ended the wait in time.', 'AWS did not answer this poll in time.']);
});

test('lines of all sources are merged in order of time, and each retry has its number and the next time', async () => {
  const failure = { name: 'ProviderBusy', httpStatus: 429, cause: { name: 'Cause' } };
  const story = await explain(5, {
    record: extractionIn('REQUESTED', { attemptId: 'attempt-2' }),
    execution: inStartTask(failed(2.5, 'ProviderBusy'), again(3), failed(4.5, 'ProviderBusy')),
    logs: bounded(
      logLine(2.4, 'start-task', 'The start call failed.', { failure }),
      // The history has it.
      logLine(2.45, 'start-task', 'Start finished.'),
    ),
  });
  expect(story?.lines.map(({ at: time, source, what }) => [time.slice(14, 23), source, what])).toEqual([
    ['00:00.000', 'API', 'arn:aws:sts::111122223333:assumed-role/Caller requested product-balance at bank.'],
    ['00:00.100', 'Step Functions', 'Started the execution.'],
    ['00:00.200', 'Step Functions', 'State StartTask: start the task, and wait for the webhook.'],
    ['00:02.400', 'start-task', 'The start call failed. ProviderBusy (HTTP 429), as Cause'],
    ['00:02.500', 'Step Functions', 'Try failed with ProviderBusy: the provider was busy (429).'],
    ['00:04.500', 'Step Functions', 'Try failed with ProviderBusy: the provider was busy (429).'],
    ['15:00.000', 'sweep', 'Queues it after this time, unless it is reconciled before.'],
  ]);
  expect(story?.lines.filter(({ attempt }) => attempt !== undefined)).toMatchObject([
    { attempt: 1, nextAt: iso(3), verdict: 'failed', does: 'wait' },
    { attempt: 2, since: iso(3), nextAt: iso(8.5), verdict: 'failed', does: 'wait' },
  ]);
});

const ttlAt = (seconds: number): number => at(seconds).getTime() / 1_000 + timings.recordRetention;

test('a record that was closed for want of a correction has a line that says so', async () => {
  const record = closedExtraction({ status: 'TIMED_OUT', expiresAt: ttlAt(40) });
  const story = await explain(3_600, { record });
  expect(story?.lines.at(-1)).toMatchObject({ at: iso(40), what: 'Closed the record: no correction came.' });
});

test('what a message of the queue did is in its lane', async () => {
  const story = await explain(60, {
    record: closedExtraction({ status: 'COMPLETED', settledBy: 'webhook' }),
    logs: bounded(
      logLine(31, 'reconcile-extraction', 'Reconcile finished.', { invoker: 'queue', outcome: 'done' }),
    ),
  });
  expect(story?.lines.find(({ lane }) => lane === 'queue')?.what).toBe(
    'Reconcile finished. outcome done, invoker queue',
  );
});

test('the log has the status that a correction replaced, and the record the one that stands', async () => {
  const story = await explain(9_000, {
    record: closedExtraction({ status: 'COMPLETED', settledBy: 'webhook', settledAt: iso(8_000) }),
    logs: bounded(
      logLine(7_200, 'reconcile-extraction', logMessages.ended, { status: 'TIMED_OUT' }),
      logLine(8_000, 'receive-webhook', logMessages.ended, { status: 'COMPLETED' }),
    ),
  });
  const lines = story?.lines.map(({ source, what }) => `${source}: ${what}`);
  expect(lines).toContain(`reconcile-extraction: ${logMessages.ended} status TIMED_OUT`);
  expect(lines?.filter((line) => line.includes('COMPLETED'))).toEqual([
    'receive-webhook: Wrote COMPLETED, after the deadline.',
  ]);
});

test.each([
  [{ status: 'COMPLETED' }, 'ok'],
  [{ status: 'CREDENTIALS_WRONG' }, 'refused'],
  [{ status: 'REJECTED', reason: 'http-500' }, 'failed'],
  [{ status: 'NOT_STARTED', reason: 'start-abandoned', lastProblem: 'ciphertext-expired' }, 'refused'],
] as const)('the line of the outcome %j is as the figures judge it', async (ended, verdict) => {
  const story = await explain(3_600, { record: closedExtraction({ ...ended, settledBy: 'reconcile' }) });
  expect(story?.lines.find(({ what }) => what.startsWith(`Wrote ${ended.status}`))?.verdict).toBe(verdict);
});

test('the logs are searched from a minute before the request until nothing more can come', async () => {
  const periodOf = async (record: Extraction) => {
    let period: Period | undefined;
    const logs: StorySources['logs'] = async (_ids, within) => {
      period = within;
      return bounded();
    };
    await explain(90_000, { record, logs });
    return [period?.from, period?.to];
  };
  const collected = closedExtraction({ status: 'COMPLETED', collectedAt: iso(60) });
  expect(await periodOf(extractionIn('RUNNING'))).toEqual([iso(-60), iso(90_000)]);
  expect(await periodOf(collected)).toEqual([iso(-60), iso(60 + 1_800)]);
});

test('the story begins with the trace that the request is part of', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const record = extractionIn('REQUESTED', { traceparent });
  const story = await explain(10, { record });
  expect(story?.lines[0]?.what).toMatch(/^In trace 4bf92f3577b34da6a3ce929d0e0e4736, arn:/);
});

test('what holds an extraction is in its headline and a line, and what holds only others is not', async () => {
  const record = extractionIn('REQUESTED');
  const open = { kind: 'open', calls: 'starts', caller: record.requestedBy, group: 'bank' } as const;
  const holds = [
    { ...open, since: iso(1), group: 'another-bank' },
    { ...open, since: iso(2), caller: 'arn:aws:iam::111122223333:role/another' },
    { ...open, since: iso(10), nextTurnAt: iso(40), cause: 'ECONNREFUSED' },
  ];
  const story = await explain(20, { record, execution: inStartTask(), holds });
  const what =
    'Starts of Caller for bank have been held since 12:00:10Z, as calls to the provider fail with ECONNREFUSED; next turn at 12:00:40Z.';
  expect(story?.headline).toBe(
    `${what} The machine tries again meanwhile. Without a start by 12:15:00Z it ends NOT_STARTED, and may be requested again.`,
  );
  expect(story?.lines.filter(({ does }) => does === 'hold')).toMatchObject([
    { at: iso(10), until: iso(40), lane: 'provider', source: 'circuit breaker', what, verdict: 'failed' },
  ]);
});

test('who waits in line is not late, although the start window is over', async () => {
  // Reconcile has deferred it.
  const waiting = extractionIn('REQUESTED', { dueAt: iso(3_000) });
  const { requestId } = waiting;
  const place = { requestId, waitedMs: 0, waitingSince: iso(3), isWaiting: true };
  const story = await explain(2_000, { record: waiting, execution: inLine(), place });
  expect(story?.headline).toBe(
    'Waits in line for the rate of the provider since 12:00:03Z. If it waits for longer than 6 h, it ends NOT_STARTED, and may be requested again.',
  );
  const { extractionId, requestedBy: caller, requestedAt: at } = waiting;
  const one = { caller, priority: 'interactive', group: 'bank', at, extractionId } as const;
  const line = { lanes: [{ caller, priority: 'interactive', waiting: [one] }], perSecond: 0.1 } as const;
  const known = await explain(2_000, { record: waiting, execution: inLine(), place, line });
  expect(known?.headline).toContain(' since 12:00:03Z. It will be started at about 12:33:30Z. If');

  const released = inLine(
    event(2_003, 'TaskStateExited', { state: 'InLine' }),
    event(2_003, 'TaskStateEntered', { state: 'StartTask' }),
    event(2_003, 'TaskScheduled'),
  );
  const started = { requestId, waitedMs: 2_000_000, isWaiting: false };
  const tried = await explain(2_010, { record: waiting, execution: released, place: started });
  expect(tried?.headline).toBe(
    'Waits for start-task. Without a start by 12:48:20Z it ends NOT_STARTED, and may be requested again.',
  );
  const earlier = await explain(2_010, {
    record: waiting,
    place: { ...place, requestId: 'of-an-erased-one' },
  });
  expect(earlier?.headline).toMatch(/^Was not started by 12:15:00Z\./);
});

test('texts of callers, operators and errors are escaped and bounded', async () => {
  const evil = `\u001b[2J\u202e${'x'.repeat(2_000)}`;
  const story = await explain(20, {
    record: extractionIn('REQUESTED', { reference: evil, requestedBy: evil }),
    execution: inStartTask(failed(2, evil, evil)),
    logs: bounded(logLine(2, evil, evil, { reason: evil, failure: { name: evil } })),
    holds: [{ kind: 'paused', calls: 'starts', since: iso(1), reason: evil, by: evil }],
    sweep: () => Promise.reject(Object.assign(new Error(evil), { $metadata: {} })),
  });
  const texts = [
    story?.headline ?? '',
    ...(story?.notShown ?? []),
    ...(story?.lines ?? []).flatMap(({ source, what }) => [source, what]),
  ];
  expect(texts.filter((text) => /[\p{Cc}\p{Bidi_Control}]/u.test(text))).toEqual([]);
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(1_000);
});

test('only the fields of a log line that the story knows are shown', async () => {
  const story = await explain(20, {
    record: extractionIn('RUNNING'),
    logs: bounded(
      logLine(3, 'receive-webhook', 'Delivery received.', { body: 'planted', recorded: { x: 'planted' } }),
    ),
  });
  expect(JSON.stringify(story)).not.toContain('planted');
});

test.each([
  ['waits in line', inLine(), { does: 'line', tries: 1 }],
  ['waits for the webhook', inStartTask(), { does: 'wait', tries: 1, nextAt: iso(601) }],
  [
    'failed twice to start',
    inStartTask(failed(2, 'ProviderBusy'), again(4), failed(5, 'ProviderUnreachable')),
    { does: 'start', tries: 2, error: 'ProviderUnreachable', nextAt: iso(9) },
  ],
  [
    'tries to start again',
    inStartTask(failed(2, 'ProviderBusy'), again(4)),
    { does: 'wait', tries: 2, error: 'ProviderBusy', nextAt: iso(604) },
  ],
  [
    'polls',
    inReconcile(failed(602, 'NotYet'), again(605), failed(606, 'NotYet')),
    { does: 'poll', tries: 2, nextAt: iso(616) },
  ],
  [
    'was redriven after its end',
    inStartTask(event(2, 'ExecutionFailed'), event(10, 'ExecutionRedriven'), failed(19, 'ProviderBusy')),
    { does: 'start', tries: 1, error: 'ProviderBusy', nextAt: iso(21) },
  ],
  ['has ended', inStartTask(event(3, 'ExecutionSucceeded')), undefined],
])('an execution that %s', (_, execution, trying) => {
  expect(tryingOf(progressOf(execution), settings)).toEqual(trying);
});

const onTime = { isOverdue: false, command: commandTextOf() };

test.each<readonly [string, Extraction, Waiting, string]>([
  ['an open one', extractionIn('RUNNING'), onTime, 'Nothing. It goes on by itself.'],
  ['an overdue one', extractionIn('RUNNING'), { ...onTime, isOverdue: true }, `cosecha reconcile ${id}`],
  ['one that a pause holds', extractionIn('REQUESTED'), { ...onTime, hold: 'paused' }, 'cosecha resume'],
  ['one that a breaker holds', extractionIn('REQUESTED'), { ...onTime, hold: 'held' }, 'goes on once'],
  ['an unconfirmed one', closedExtraction({ status: 'UNCONFIRMED' }), onTime, 'Ask the provider whether'],
])('%s', (_, record, waiting, expected) => {
  expect(whatToDo(record, waiting)).toContain(expected);
});
