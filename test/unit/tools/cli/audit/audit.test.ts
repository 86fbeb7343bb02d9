import { expect, test } from 'vitest';
import { adviceOf } from '#lib/extraction/advice.ts';
import { publicCodes } from '#lib/extraction/causes.ts';
import type { Extraction, ExtractionStatus } from '#lib/extraction/record.ts';
import {
  allStatuses,
  at,
  closedExtraction,
  consentIn,
  extractionIn,
  iso,
  timings,
} from '#support/data/extraction-fixtures.ts';
import { type AuditOptions, audit } from '#tools/cli/audit/audit.ts';
import type {
  AuditSources,
  MarkFacts,
  PlaceFacts,
  RequestItem,
  StoredBytes,
  TaskFacts,
  Tombstone,
} from '#tools/cli/audit/audit-types.ts';
import { describeEstimate, describeRule } from '#tools/cli/audit/describe-audit.ts';
import { expectedAdvice } from '#tools/cli/audit/expected-advice.ts';
import { rules } from '#tools/cli/audit/rules.ts';
import type { StreamChange } from '#tools/cli/aws/read-extraction-changes.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';

const sha256 = '0a'.repeat(32);
const results = { bucket: 'results', key: `completed/${sha256}.json`, bytes: 7, sha256 };

/** As DynamoDB's time to live has it. */
const epoch = (seconds: number): number => at(seconds).getTime() / 1_000;
const closedAt = (seconds: number) => ({ expiresAt: epoch(seconds) + timings.recordRetention });

/** One of each end, and two that are open. All were requested at 0 s, and the audit is at 600 s. */
const completed = closedExtraction({
  extractionId: 'completed',
  status: 'COMPLETED',
  taskId: 'task-1',
  settledBy: 'webhook',
  isFinal: true,
  attemptId: 'a',
  startingAt: iso(1),
  startedAt: iso(2),
  collectedAt: iso(40),
  advice: 'none',
  results,
  ...closedAt(40),
});
const rejected = extractionIn('REJECTED', {
  extractionId: 'rejected',
  advice: 'fix-request',
  ...closedAt(30),
});
const running = extractionIn('RUNNING', { extractionId: 'running', taskId: 'task-2' });
const timedOut = extractionIn('TIMED_OUT', {
  extractionId: 'timed-out',
  taskId: 'task-3',
  advice: 'wait',
  settledAt: iso(300),
  deadlineAt: iso(290),
});
const consent = consentIn('RUNNING', { extractionId: 'consent', taskId: 'task-4', requestId: 'request-c' });

const waiting = extractionIn('REQUESTED', { extractionId: 'waiting', requestId: 'request-w' });

const change = (after: Extraction, from: ExtractionStatus, seconds: number): StreamChange => {
  const { settledAt: _settledAt, ...before } = after;
  return { at: iso(seconds), after, before: { ...before, status: from } as Extraction };
};
const removal = (before: Extraction): StreamChange => ({ at: iso(500), before });

const item = (requestId: string, extractionId: string, expires: number): RequestItem => ({
  requestId,
  extractionId,
  expiresAt: epoch(expires),
});

/** A place among the turns of the caller of all of these. Without `line`, it was released. */
const placeOf = (
  extractionId: string,
  requestId: string,
  { caller = waiting.requestedBy, ...fields }: { caller?: string; waitedMs?: number } = {},
): PlaceFacts => ({
  ...{ extractionId, requestId, waitedMs: 0, ...fields },
  slot: `${caller}#interactive#bank#${iso(0)}#${extractionId}`,
});
/** One that waits to be released. */
const waitsAs = (...of: Parameters<typeof placeOf>): PlaceFacts => ({ ...placeOf(...of), line: 'line' });

const erased: Tombstone = {
  ...{ extractionId: 'erased', requestId: 'request-e' },
  ...{ askedAt: iso(300), erasedAt: iso(400) },
};
const startOf = (extractionId: string, taskId = 'task-9') => ({ extractionId, taskId, at: iso(2) });

/** What a deployment holds. Each test breaks one thing in it. */
const clean = () => {
  const records: Extraction[] = [completed, rejected, running, timedOut, consent, waiting];
  const tasks: TaskFacts[] = [
    {
      taskId: 'task-1',
      extractionId: 'completed',
      taskStatus: 'COMPLETED',
      firstStatus: 'COMPLETED',
      notifiedAt: iso(29),
    },
    { taskId: 'task-2', extractionId: 'running' },
  ];
  return {
    records,
    tasks,
    requested: records.map(({ extractionId, requestedBy: caller, method }) => ({
      ...{ extractionId, caller, at: iso(0) },
      subject: method === 'consent' ? 'movement' : 'bank',
    })),
    accepted: [completed, running, timedOut, consent].map(({ extractionId, taskId }) =>
      startOf(extractionId, taskId),
    ),
    changes: [
      change(rejected, 'STARTING', 30),
      change(completed, 'RUNNING', 30),
      change(timedOut, 'RUNNING', 300),
    ],
    items: [item('request-c', 'consent', 90_000), item('request-w', 'waiting', 9_000)],
    tombstones: [erased],
    marks: [{ extractionId: 'completed', expiresAt: epoch(7 * 86_400) }] as MarkFacts[],
    line: [waitsAs('waiting', 'request-w')] as PlaceFacts[],
    shared: new Map<string, object>([
      ['rate', { state: { lineUntil: at(605).getTime() } }],
      [waiting.requestedBy, { state: { groups: [['bank', at(590).getTime()]] } }],
    ]),
    objects: new Map<string, number>(),
    stored: new Map<string, StoredBytes>([[results.key, results]]),
  };
};
type World = ReturnType<typeof clean>;

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void> {
  yield* items;
}

const sourcesOf = (world: World): AuditSources => ({
  estimate: async () => undefined,
  limits: async () => ({ ...timings, sweepEvery: 300 }),
  requested: () => each(world.requested),
  accepted: () => each(world.accepted),
  due: async () => world.records.flatMap(({ extractionId, dueAt }) => (dueAt ? [extractionId] : [])),
  requestItems: () => each(world.items),
  tombstones: () => each(world.tombstones),
  marks: () => each(world.marks),
  shared: async () => world.shared,
  line: () => each(world.line),
  objects: async (extractionId) => world.objects.get(extractionId) ?? 0,
  changes: () => each(world.changes),
  records: (ids) => each(world.records.filter(({ extractionId }) => ids.includes(extractionId))),
  tasks: (ids) => each(world.tasks.filter(({ taskId }) => ids.includes(taskId))),
  stored: async ({ key }) => world.stored.get(key),
});

const options: AuditOptions = { since: at(0), clock: () => at(600), seed: 'seed', results: true };

const reportsOf = async (sources: AuditSources, more: Partial<AuditOptions> = {}) =>
  (await audit(sources, { ...options, ...more })).rules;
const reportOf = async (rule: string, ...audited: Parameters<typeof reportsOf>) =>
  (await reportsOf(...audited)).find(({ id }) => id === rule);

const findingsIn = async (world: World, more: Partial<AuditOptions> = {}) =>
  (await reportsOf(sourcesOf(world), more)).flatMap(({ id, findings, result }) =>
    result === 'unchecked'
      ? [`${id} unchecked`]
      : findings.map(({ extractionId }) => `${id} ${extractionId}`.trim()),
  );

test('a clean deployment has no finding, and every rule has something to check', async () => {
  const reports = await reportsOf(sourcesOf(clean()));
  expect(reports.filter(({ result }) => result !== 'passed')).toEqual([]);
  expect(reports.map(({ id, checked }) => [id, checked > 0])).toEqual(rules.map(({ id }) => [id, true]));
});

const replace = (world: World, record: Extraction, fields: object): void => {
  const index = world.records.indexOf(record);
  world.records[index] = { ...record, ...fields } as Extraction;
};
const lose = (world: World, record: Extraction): void => {
  world.records.splice(world.records.indexOf(record), 1);
};
const remove = (world: World, record: Extraction): void => {
  lose(world, record);
  world.changes.push(removal(record));
};
/** What the provider delivered of the completed one. */
const deliver = (world: World, fields: Partial<TaskFacts>): void => {
  world.tasks[0] = { ...world.tasks[0], taskId: 'task-1', ...fields };
};
const without = (name: keyof Extraction) => ({ [name]: undefined });

type Break = (world: World) => unknown;

const startedAt = (seconds: number) => ({
  requestedAt: iso(seconds),
  startingAt: iso(seconds),
  startedAt: iso(seconds),
});

const aYearAhead = iso(365 * 86_400);
const another = 'arn:aws:iam::111122223333:user/another';
const requested = extractionIn('REQUESTED', { extractionId: 'requested', requestId: 'request-r' });
const unconfirmed = extractionIn('UNCONFIRMED', {
  extractionId: 'rejected',
  advice: 'ask-provider',
  ...closedAt(30),
});
const notStarted = extractionIn('NOT_STARTED', {
  extractionId: 'rejected',
  advice: 'request-again',
  ...closedAt(30),
});
const erasing: Tombstone = { extractionId: 'erasing', requestId: 'r' };
const collecting = extractionIn('FAILED', {
  extractionId: 'running',
  taskId: 'task-2',
  settledBy: 'reconcile',
});
const taskOf = ({ extractionId, taskId = '' }: Extraction): TaskFacts => ({ taskId, extractionId });
/** An item of the stream in which the status stays. */
const edit = (before: Extraction, fields: object): StreamChange => ({
  at: iso(500),
  before,
  after: { ...before, ...fields } as Extraction,
});

/** What another rule notices, or a record may have or lack in this status. */
const isChecked = (status: ExtractionStatus, name: string): boolean =>
  !/^(schemaVersion|extractionId|status|method|requestedBy|entity|advice|due\w+|expiresAt)$/.test(name) &&
  !['REJECTED startingAt', 'TIMED_OUT collectionError', 'REQUESTED attemptId'].includes(`${status} ${name}`);

/** Each record without one of its attributes, and with one that only others have. */
const incomplete = clean().records.flatMap((record) =>
  Object.entries(Object.assign({ collectionError: 'no-results' }, ...clean().records))
    .filter(([name]) => isChecked(record.status, name))
    .map(([name, value]) =>
      name in record
        ? ([`${record.status}, without ${name}`, record, { [name]: undefined }] as const)
        : ([`${record.status}, with ${name}`, record, { [name]: value }] as const),
    ),
);

/** What makes a record invalid by itself. */
const invalid: readonly (readonly [what: string, record: Extraction, fields: object])[] = [
  ...incomplete,
  [
    'closed without its collection',
    completed,
    { ...without('collectedAt'), ...without('results'), ...without('advice') },
  ],
  ['closed, and to be read later', completed, { notBefore: iso(50) }],
  ['closed, and never to expire', completed, without('expiresAt')],
  ['it expires in an hour', completed, { expiresAt: epoch(4_200) }],
  ['it expires in milliseconds', completed, { expiresAt: at(4_200).getTime() }],
  ['settled before its request', completed, { settledAt: iso(-3_600) }],
  ['collected before its outcome', completed, { collectedAt: iso(-3_600) }],
  ['started before its attempt', completed, { startedAt: iso(-3_600) }],
  ['settled in a year', completed, { settledAt: aYearAhead, collectedAt: aYearAhead }],
  ['a time without milliseconds', completed, { settledAt: '2026-03-01T12:00:30Z' }],
  ['a deadline before its request', completed, { deadlineAt: iso(-60) }],
  ['REJECTED by a webhook', rejected, { settledBy: 'webhook' }],
  ['a deadline in a year', running, { deadlineAt: aYearAhead }],
  ['due in a year', running, { dueAt: aYearAhead }],
  ['no call for a year', running, { notBefore: aYearAhead }],
  ['a text as a code', running, { lastProblem: 'The user 11.111.111-1 is locked.' }],
  ['STARTING, with a task', running, { status: 'STARTING' }],
  ['collecting, with results', running, { ...collecting, results, actionResults: [] }],
  ['TIMED_OUT before its deadline', timedOut, { settledAt: iso(200) }],
  ['TIMED_OUT, and due in a year', timedOut, { dueAt: aYearAhead }],
  ['UNCONFIRMED, with isFinal', rejected, { ...unconfirmed, isFinal: true }],
  ['UNCONFIRMED, with a task', rejected, { ...unconfirmed, taskId: 'task-9' }],
  ['NOT_STARTED by a start', rejected, { ...notStarted, settledBy: 'start' }],
  ['NOT_STARTED, with a task', rejected, { ...notStarted, taskId: 'task-9' }],
  ['by consent, and a webhook was to come', consent, { withoutWebhook: true }],
  ['by consent, with credentials', consent, { entity: 'bank' }],
];

/** By the only finding that each leaves, as its rule and extraction: what breaks a deployment so. */
const broken: Readonly<Record<string, Readonly<Record<string, Break>>>> = {
  'erased-is-gone erased': {
    'its record came back': ({ records }) =>
      records.push({ ...rejected, extractionId: 'erased', requestId: 'request-e' }),
    'its sealed data are there': ({ items }) => items.push(item('request-e', 'erased', 90_000)),
    'its results are there': ({ objects }) => objects.set('erased', 2),
    'its task is linked': ({ accepted, tasks }) => {
      accepted.push(startOf('erased', 'task-e'));
      tasks.push({ taskId: 'task-e', extractionId: 'erased' });
    },
    'its task keeps a MAC of its credentials': ({ accepted, tasks }) => {
      accepted.push(startOf('erased', 'task-e'));
      tasks.push({ taskId: 'task-e', credentialsMac: 'mac' });
    },
    'its erasure was searched, and keeps the reference': ({ tombstones }) =>
      tombstones.splice(0, 1, { ...erased, searchedAt: iso(350), reference: 'a person' }),
    'a mark names it': ({ marks }) => marks.push({ extractionId: 'erased', expiresAt: epoch(900) }),
    'it has a place in line': ({ line }) => line.push(placeOf('erased', 'request-e')),
  },
  'requests-have-records rejected': {
    'a record is lost': (world) => lose(world, rejected),
    'a closed record was deleted by hand': (world) => remove(world, rejected),
  },
  'requests-have-records closed-consent': {
    'a closed consent was deleted by hand, which has no item in `Tasks`': (world) => {
      const { dueShard: _shard, dueAt: _dueAt, ...closed } = consent;
      world.changes.push(removal({ ...closed, ...closedAt(30), extractionId: 'closed-consent' }));
    },
  },
  'requests-have-records running': {
    'a record was removed while it was open': (world) => remove(world, running),
  },
  'deadlines-kept running': {
    'a record runs beyond its deadline': (world) =>
      replace(world, running, { ...startedAt(-9_000), deadlineAt: iso(-3_600) }),
  },
  'deadlines-kept running, records-valid running': {
    'a deadline is damaged': (world) => replace(world, running, { deadlineAt: 'soon' }),
  },
  'one-start running': {
    'the provider accepted two starts, by the log': (world) => world.accepted.push(startOf('running')),
    'the task of a record was replaced, by the stream': (world) =>
      world.changes.push(change({ ...running, taskId: 'task-9' }, 'STARTING', 2)),
  },
  'changes-allowed completed': {
    'an outcome that never changes was changed': (world) =>
      world.changes.push(change(completed, 'FAILED', 31)),
    'an outcome was written without settledAt': (world) =>
      world.changes.push(change({ ...completed, ...without('settledAt') } as Extraction, 'RUNNING', 31)),
  },
  'delivered-recorded completed': {
    'another status was delivered': (world) => deliver(world, { taskStatus: 'PARTIAL' }),
    'the task belongs to another extraction': (world) => deliver(world, { extractionId: 'other' }),
    'the task of an outcome is gone': (world) => world.tasks.shift(),
    'nothing was delivered to what a webhook settled': (world) => world.tasks.splice(0, 1, taskOf(completed)),
  },
  'results-intact completed': {
    'stored bytes were changed': (world) =>
      world.stored.set(results.key, { bytes: 7, sha256: '0b'.repeat(32) }),
    'results are lost': (world) => world.stored.clear(),
  },
  'due-while-open completed': {
    'a closed record is due': (world) => replace(world, completed, { dueShard: 1, dueAt: iso(700) }),
  },
  'due-while-open running': {
    'an open record is never due': (world) =>
      replace(world, running, { ...without('dueShard'), ...without('dueAt') }),
    'an open record has half of its key': (world) => replace(world, running, without('dueAt')),
    'no sweep reads the shard of a record': (world) => replace(world, running, { dueShard: 1.5 }),
  },
  'erasures-end erasing': {
    'a removal never ended': ({ tombstones }) =>
      tombstones.push({ ...erasing, askedAt: iso(-9_000), removingAt: iso(-3_100) }),
    'a removal never began': ({ tombstones }) => tombstones.push({ ...erasing, askedAt: iso(-200_000) }),
    'the erasure of a removal that never began is gone': ({ tombstones }) => tombstones.push(erasing),
  },
  'erasures-end running': {
    'an open record is marked, and nobody has asked': (world) =>
      replace(world, running, { erasingAt: iso(100) }),
    'an open record is marked, and its erasure has ended': (world) => {
      replace(world, running, { requestId: 'request-m', erasingAt: iso(100) });
      const erased = { requestId: 'request-m', askedAt: iso(100), erasedAt: iso(200) };
      world.tombstones.push({ ...erased, extractionId: 'another' });
    },
  },
  'reconciled-in-time running': {
    'a running one is due for three sweeps': (world) => replace(world, running, { dueAt: iso(-301) }),
    'one is STARTING for an hour': (world) => {
      world.items.push(item('request-1', 'running', 9_000));
      replace(world, running, {
        ...without('taskId'),
        ...without('startedAt'),
        ...{ status: 'STARTING', startingAt: iso(-3_400), requestedAt: iso(-3_401) },
      });
    },
    'one is COMPLETED, and its results are late': (world) =>
      replace(world, running, {
        ...{ status: 'COMPLETED', isFinal: true, settledAt: iso(-3_300), settledBy: 'reconcile' },
        ...startedAt(-3_400),
        dueAt: iso(-3_300),
      }),
  },
  'reconciled-in-time waiting': {
    'one is REQUESTED, and due for an hour': (world) => replace(world, waiting, { dueAt: iso(-3_300) }),
    'the place of one that waits is gone': (world) => {
      replace(world, waiting, { requestedAt: iso(-1_500) });
      world.line.pop();
    },
  },
  'line-agrees timed-out': {
    'one that has ended is in line': (world) => {
      replace(world, timedOut, { ...startedAt(-2_000), deadlineAt: iso(-1_010), settledAt: iso(-1_000) });
      world.line.push(waitsAs('timed-out', 'request-1'));
    },
  },
  'line-agrees waiting': {
    'a place in line is of a replaced request': ({ line }) => line.push(waitsAs('waiting', 'request-before')),
    'a place is among the turns of another caller': ({ line }) =>
      line.splice(0, 1, waitsAs('waiting', 'request-w', { caller: another })),
  },
  'line-agrees gone': {
    'a place in line is of no record': ({ line }) => line.push(waitsAs('gone', 'request-g')),
  },
  'requests-forgotten nobody': {
    'sealed data are of no record': ({ items }) => items.push(item('request-n', 'nobody', 9_000)),
  },
  'requests-forgotten consent': {
    'sealed data are of a replaced request': ({ items }) =>
      items.push(item('request-before', 'consent', 90_000)),
    'sealed data expire in a year': ({ items }) =>
      items.splice(0, 1, item('request-c', 'consent', 365 * 86_400)),
    'a consent is open, and its item is gone': (world) => world.items.shift(),
    'the item of an open consent expires before its deadline': ({ items }) =>
      items.splice(0, 1, item('request-c', 'consent', 3_600)),
  },
  'requests-forgotten running': {
    'credentials are kept after the start': (world) => world.items.push(item('request-1', 'running', 9_000)),
  },
  'requests-forgotten rejected': {
    'credentials are kept after a start that may have been made': (world) => {
      replace(world, rejected, { ...unconfirmed, ...without('isFinal'), requestId: 'request-u' });
      world.items.push(item('request-u', 'rejected', 9_000));
    },
  },
  'requests-forgotten waiting, requests-forgotten completed': {
    'sealed data name another extraction': ({ items }) =>
      items.splice(1, 1, item('request-w', 'completed', 9_000)),
  },
  'requests-forgotten waiting, requests-forgotten waiting': {
    'sealed data have no end': ({ items }) => items.splice(1, 1, item('request-w', 'waiting', Number.NaN)),
  },
  'requests-forgotten gone': {
    'an expired item stays': (world) => world.items.push(item('r', 'gone', -700_000)),
  },
  'marks-agree completed': {
    'a mark ends in a year': ({ marks }) =>
      marks.push({ extractionId: 'completed', expiresAt: epoch(365 * 86_400) }),
    'credentials that were right are marked as refused': ({ marks }) =>
      marks.push({ extractionId: 'completed', expiresAt: epoch(900), isRefused: true }),
  },
  'starts-not-held': {
    'a breaker is open for a day': ({ shared }) =>
      shared.set(waiting.requestedBy, { state: { opened: { others: { at: at(86_400).getTime() } } } }),
    'starts wait for the rate for a day': ({ shared }) =>
      shared.set('rate', { state: { lineUntil: at(86_400).getTime() } }),
  },
  'advice rejected': {
    'the advice is another': (world) => replace(world, rejected, { advice: 'operator' }),
  },
  'closed-in-time timed-out': {
    'an outcome is never closed': (world) =>
      replace(world, timedOut, {
        ...startedAt(-100_300),
        ...{ deadlineAt: iso(-100_100), settledAt: iso(-100_000) },
      }),
  },
  'requests-have-records started': {
    'a start was accepted, and there is no record': (world) => world.accepted.push(startOf('started')),
  },
  'one-start consent, one-start consent-2': {
    'two consents have one task': (world) => {
      world.records.push({ ...consent, extractionId: 'consent-2', requestId: 'request-d' });
      world.items.push(item('request-d', 'consent-2', 90_000));
    },
  },
  'changes-allowed rejected': {
    'a record became another caller’s': (world) =>
      world.changes.push(edit(rejected, { requestedBy: another })),
    'a record became about another entity': (world) =>
      world.changes.push(edit(rejected, { entity: 'other' })),
  },
  'delivered-recorded running': {
    'a delivered status was never recorded': (world) =>
      world.tasks.splice(1, 1, { ...taskOf(running), taskStatus: 'COMPLETED', notifiedAt: iso(-3_100) }),
  },
  'requests-forgotten requested': {
    'credentials that wait for their start are gone': (world) => world.records.push(requested),
  },
  'log-agrees rejected': {
    'a start was accepted, and its record is REJECTED': (world) => world.accepted.push(startOf('rejected')),
    'a start was accepted, and its record is NOT_STARTED': (world) => {
      replace(world, rejected, notStarted);
      world.accepted.push(startOf('rejected'));
    },
    'a record is another caller’s than in the log': (world) =>
      replace(world, rejected, { requestedBy: another }),
    'a record is about another entity than in the log': (world) =>
      replace(world, rejected, { entity: 'other' }),
  },
  'log-agrees requested': {
    'a start was accepted, and its record waits for one': (world) => {
      world.records.push(requested);
      world.items.push(item('request-r', 'requested', 9_000));
      world.accepted.push(startOf('requested'));
    },
  },
  'results-intact completed, records-valid completed': {
    'the results are those of another extraction': (world) =>
      replace(world, completed, { results: { ...results, key: `other/${sha256}.json` } }),
  },
};
const breaks = Object.entries(broken).flatMap(([found, ways]) =>
  Object.entries(ways).map(([what, breakIt]) => [what, breakIt, found] as const),
);

test.each(breaks)('%s: exactly this is found', async (_, breakIt, found) => {
  const world = clean();
  breakIt(world);
  expect(await findingsIn(world)).toEqual(found.split(', '));
});

test.each(invalid)('a record that is %s is found', async (_, record, fields) => {
  const world = clean();
  replace(world, record, fields);
  expect(await findingsIn(world)).toContain(`records-valid ${record.extractionId}`);
});

test('every rule has a deployment that it finds broken', () => {
  const found = new Set(
    Object.keys(broken).flatMap((found) => found.split(', ').map((one) => one.split(' ')[0])),
  );
  expect(found).toEqual(new Set(rules.map(({ id }) => id)));
});

const harmless: Readonly<Record<string, Break>> = {
  'a later request under the key of an erased one has results': ({ records, objects }) => {
    records.push({ ...rejected, extractionId: 'erased', requestId: 'later' });
    objects.set('erased', 1);
  },
  'the record of a request was erased': ({ requested }) =>
    requested.push({ extractionId: 'erased', caller: running.requestedBy, at: iso(0), subject: 'bank' }),
  'a closed record was erased': (world) => {
    remove(world, rejected);
    world.tombstones.push({ ...rejected, removingAt: iso(490) });
  },
  'a closed record has expired': (world) =>
    world.changes.push(removal({ ...rejected, extractionId: 'expired', expiresAt: epoch(400) })),
  'an open record is about to be erased': (world) => {
    replace(world, running, { erasingAt: iso(100) });
    world.tombstones.push({ ...running, askedAt: iso(100) });
  },
  'a start goes on after six hours in line': (world) => {
    replace(world, waiting, { requestedAt: iso(-21_600), dueAt: iso(700) });
    world.line = [placeOf('waiting', 'request-w', { waitedMs: 21_600_000 })];
  },
  'a read had another answer of the provider before the delivery': (world) => {
    replace(world, completed, { settledBy: 'reconcile' });
    deliver(world, { taskStatus: 'PARTIAL', notifiedAt: iso(31) });
  },
  'a task of another extraction is not disowned yet': (world) =>
    world.tasks.splice(1, 1, { taskId: 'task-2', extractionId: 'other' }),
  'a record is of a newer version': (world) =>
    replace(world, running, { schemaVersion: 2, status: 'NEW', deadlineAt: iso(-9_000) }),
};

test.each(Object.entries(harmless))('%s: nothing is found', async (_, changeIt) => {
  const world = clean();
  changeIt(world);
  expect(await findingsIn(world)).toEqual([]);
});

test('a few items that are left to expire are counted, and no finding', async () => {
  const world = clean();
  world.items.push(item('request-1', 'running', 9_000));
  const others = Array.from({ length: 7 }, (_, index) => `e-${index}`);
  world.accepted.push(...others.map((extractionId) => startOf(extractionId)));
  expect(await reportOf('requests-forgotten', sourcesOf(world))).toMatchObject({
    result: 'passed',
    checked: 2,
    notChecked: 'items that are left to expire: 1, such as that of running',
    left: ['running'],
  });
});

const fails = (error: Error): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });

test('a source that cannot be read leaves the rules that need it unchecked, and no others', async () => {
  const reports = await reportsOf({ ...sourcesOf(clean()), requestItems: () => fails(denied) });
  const unchecked = reports.filter(({ result }) => result === 'unchecked');
  const notChecked = expect.stringContaining('allow');
  expect(unchecked).toMatchObject([
    { id: 'requests-forgotten', notChecked },
    { id: 'erased-is-gone', notChecked },
  ]);
  expect(reports.filter(({ result }) => result === 'passed').length).toBe(rules.length - 2);
});

test('an audit that cannot estimate what it reads goes on, and says why', async () => {
  const explanation = /not known here.*AWS does not allow it: no$/;
  expect(await describeEstimate(Promise.reject(denied))).toMatch(explanation);
  await expect(describeEstimate(Promise.reject(new TypeError('a defect')))).rejects.toThrow('a defect');
});

test('results are read only on request, and the report says so', async () => {
  const sources = { ...sourcesOf(clean()), stored: () => Promise.reject(new Error('was read')) };
  expect(await reportOf('results-intact', sources, { results: undefined })).toMatchObject({
    result: 'passed',
    checked: 0,
    notChecked: expect.stringContaining('--results'),
  });
});

test('a seed draws the same requests again, and another one others', async () => {
  const world = clean();
  const line = { caller: 'c', subject: 's', at: iso(0) };
  world.requested = Array.from({ length: 200 }, (_, index) => ({ ...line, extractionId: `e-${index}` }));
  const drawnBy = async (seed: string) => {
    const report = await reportOf('requests-have-records', sourcesOf(world), { sample: 5, seed });
    return report?.findings.map(({ extractionId }) => extractionId).toSorted();
  };
  const drawn = await drawnBy('one');
  expect(drawn).toHaveLength(5);
  world.requested.reverse();
  expect(await drawnBy('one')).toEqual(drawn);
  expect(await drawnBy('two')).not.toEqual(drawn);
});

/** Every public code, and some of those that stand for many. */
const everyCode = [
  ...publicCodes,
  'http-400',
  'http-429/BUSY',
  'held/http-503',
  'login-http-401',
  'login-http-503',
];
const shown = everyCode.flatMap((code) => [
  { reason: code },
  { lastProblem: code },
  { collectionError: code },
]);

// The audit and lib/extraction state the table independently, so that a mistake in one of them shows.
test.each(allStatuses)('the advice of a record in %s is that of lib/extraction', (status) => {
  const actionResults = (errorCode: string) => [{ id: 'tef', status: 'FAILED', errorCode }];
  const ends = ['REQUEST_BLOCK_ERROR', 'TIMEOUT_ERROR'].flatMap((code) =>
    [{}, { collectedAt: iso(9) }].map((end) => ({ ...end, actionResults: actionResults(code) })),
  );
  for (const end of ends) {
    for (const fields of [{}, ...shown]) {
      const byConsent = consentIn(status, { reason: 'NO_CONSENT', ...end, ...fields });
      // The failure of one by credentials has no reason.
      const others = status === 'FAILED' ? { reason: undefined } : {};
      const byCredentials = extractionIn(status, { ...end, ...fields, ...others } as object);
      for (const record of [byConsent, byCredentials]) expect(expectedAdvice(record)).toBe(adviceOf(record));
    }
  }
});

test('a finding is printed with its id and the command that explains it', () => {
  const findings = Array.from({ length: 21 }, (_, index) => ({ extractionId: `e-${index}`, what: 'Lost.' }));
  const rule = {
    id: 'x',
    sentence: 'Every one is there.',
    result: 'failed',
    checked: 1_000,
    findings,
  } as const;
  const lines = describeRule(rule, commandTextOf());
  expect(lines.slice(0, 3)).toEqual([
    '✗ Every one is there. 1,000 checked, 21 findings.',
    '  Lost.',
    '    → `npm exec --no -- cosecha explain e-0`',
  ]);
  expect(lines.at(-1)).toBe('  … and 1 more, which --json prints.');
});
