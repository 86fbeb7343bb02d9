import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { adviceOf } from '../../../../../lib/extraction/advice.ts';
import type { Extraction, ExtractionStatus } from '../../../../../lib/extraction/record.ts';
import { type AuditOptions, audit } from '../../../../../tools/cli/audit/audit.ts';
import type {
  AuditSources,
  Logged,
  RequestItem,
  StoredBytes,
  TaskFacts,
} from '../../../../../tools/cli/audit/audit-types.ts';
import { describeRule } from '../../../../../tools/cli/audit/describe-audit.ts';
import { expectedAdvice } from '../../../../../tools/cli/audit/expected-advice.ts';
import { rules } from '../../../../../tools/cli/audit/rules.ts';
import type { StreamChange } from '../../../../../tools/cli/aws/read-extraction-changes.ts';
import {
  allStatuses,
  at,
  closedExtraction,
  consentIn,
  extractionIn,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';

/** What a deployment holds. Each test breaks one thing in it. */
type World = {
  requested: Logged[];
  accepted: Logged[];
  records: Extraction[];
  changes: StreamChange[];
  tasks: TaskFacts[];
  items: RequestItem[];
  stored: Map<string, StoredBytes>;
};

const retention = timings.recordRetention;
const results = (extractionId: string) => ({
  bucket: 'results',
  key: `${extractionId}/0a.json`,
  bytes: 7,
  sha256: '0a'.repeat(32),
});

const closedAt = (seconds: number) => ({ expiresAt: at(seconds).getTime() / 1_000 + retention });

/** One of each end, and two that are open. All were requested at 0 s, and the audit is at 600 s. */
const completed = closedExtraction({
  ...{
    extractionId: 'completed',
    status: 'COMPLETED',
    taskId: 'task-1',
    settledBy: 'webhook',
    isFinal: true,
  },
  ...{ attemptId: 'a', startingAt: iso(1), startedAt: iso(2), collectedAt: iso(40), advice: 'none' },
  ...{ results: results('completed'), ...closedAt(40) },
});
const rejected = extractionIn('REJECTED', {
  ...{ extractionId: 'rejected', advice: 'fix-request', ...closedAt(30) },
});
const running = extractionIn('RUNNING', { extractionId: 'running', taskId: 'task-2' });
const timedOut = extractionIn('TIMED_OUT', {
  ...{
    extractionId: 'timed-out',
    taskId: 'task-3',
    settledAt: iso(300),
    deadlineAt: iso(290),
    advice: 'wait',
  },
});
const consent = consentIn('RUNNING', { extractionId: 'consent', taskId: 'task-4', requestId: 'request-c' });

const change = (after: Extraction, from: ExtractionStatus, seconds: number): StreamChange => {
  const { settledAt: _settledAt, ...before } = after;
  return {
    ...{ at: iso(seconds), event: 'MODIFY', byTtl: false, after },
    before: { ...before, status: from } as Extraction,
  };
};
const removal = (before: Extraction): StreamChange => ({
  ...{ at: iso(500), event: 'REMOVE', byTtl: false, before },
});

const clean = (): World => {
  const records = [completed, rejected, running, timedOut, consent];
  return {
    records: [...records],
    requested: records.map(({ extractionId }) => ({ extractionId, at: iso(0) })),
    accepted: [completed, running, timedOut, consent].map(({ extractionId, taskId = '' }) => ({
      ...{ extractionId, taskId, at: iso(2) },
    })),
    changes: [
      change(rejected, 'STARTING', 30),
      change(completed, 'RUNNING', 30),
      change(timedOut, 'RUNNING', 300),
    ],
    tasks: [
      { taskId: 'task-1', extractionId: 'completed', taskStatus: 'COMPLETED', notifiedAt: iso(29) },
      { taskId: 'task-2', extractionId: 'running' },
    ],
    items: [{ requestId: 'request-c', extractionId: 'consent', expiresAt: at(90_000).getTime() / 1_000 }],
    stored: new Map([[results('completed').key, results('completed')]]),
  };
};

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
  changes: () => each(world.changes),
  records: (ids) => each(world.records.filter(({ extractionId }) => ids.includes(extractionId))),
  tasks: (ids) => each(world.tasks.filter(({ taskId }) => ids.includes(taskId))),
  stored: async ({ key }) => world.stored.get(key),
});

const options: AuditOptions = { since: at(0), now: at(600), seed: 'seed', results: true };

const findingsIn = async (world: World, more: Partial<AuditOptions> = {}) =>
  (await audit(sourcesOf(world), { ...options, ...more })).rules.flatMap(({ id, findings, result }) =>
    result === 'unchecked'
      ? [`${id} unchecked`]
      : findings.map(({ extractionId }) => `${id} ${extractionId}`),
  );

test('a clean deployment has no finding, and every rule has something to check', async () => {
  const { rules: reports } = await audit(sourcesOf(clean()), options);
  expect(reports.filter(({ result }) => result !== 'passed')).toEqual([]);
  expect(reports.map(({ id, checked }) => [id, checked > 0])).toEqual(rules.map(({ id }) => [id, true]));
});

const replace = (world: World, record: Extraction, fields: object): void => {
  const index = world.records.indexOf(record);
  world.records[index] = { ...record, ...fields } as Extraction;
};
const without = (name: keyof Extraction) => ({ [name]: undefined });

/** The only finding that each leaves, by its rule and extraction. */
const broken: readonly (readonly [string, (world: World) => void, string])[] = [
  [
    'a record is lost',
    (world) => {
      world.records.splice(world.records.indexOf(rejected), 1);
    },
    'requests-have-records rejected',
  ],
  [
    'a record was removed while it was open',
    (world) => {
      world.records.splice(world.records.indexOf(running), 1);
      world.changes.push(removal(running));
    },
    'requests-have-records running',
  ],
  [
    'a record runs beyond its deadline',
    (world) => replace(world, running, { deadlineAt: iso(-3_600) }),
    'deadlines-kept running',
  ],
  [
    'a deadline is damaged',
    (world) => replace(world, running, { deadlineAt: 'soon' }),
    'deadlines-kept running',
  ],
  [
    'the provider accepted two starts, by the log',
    (world) => {
      world.accepted.push({ extractionId: 'running', taskId: 'task-9', at: iso(3) });
    },
    'one-start running',
  ],
  [
    'the task of a record was replaced, by the stream',
    (world) => {
      const first = { ...running, taskId: 'task-9' };
      world.changes.push(change(first, 'STARTING', 2));
    },
    'one-start running',
  ],
  [
    'an outcome that never changes was changed',
    (world) => {
      world.changes.push(change(completed, 'FAILED', 31));
    },
    'changes-allowed completed',
  ],
  [
    'an outcome was written without settledAt',
    (world) => {
      world.changes.push(change({ ...completed, ...without('settledAt') } as Extraction, 'RUNNING', 31));
    },
    'changes-allowed completed',
  ],
  [
    'another status was delivered',
    (world) => {
      world.tasks[0] = { ...world.tasks[0], taskId: 'task-1', taskStatus: 'PARTIAL' };
    },
    'delivered-recorded completed',
  ],
  [
    'the task belongs to another extraction',
    (world) => {
      world.tasks[0] = { ...world.tasks[0], taskId: 'task-1', extractionId: 'other' };
    },
    'delivered-recorded completed',
  ],
  [
    'stored bytes were changed',
    (world) => {
      world.stored.set(results('completed').key, { bytes: 7, sha256: '0b'.repeat(32) });
    },
    'results-intact completed',
  ],
  ['results are lost', (world) => world.stored.clear(), 'results-intact completed'],
  [
    'a closed record is due',
    (world) => replace(world, completed, { dueShard: 1, dueAt: iso(700) }),
    'due-while-open completed',
  ],
  [
    'an open record is never due',
    (world) => replace(world, running, { ...without('dueShard'), ...without('dueAt') }),
    'due-while-open running',
  ],
  [
    'credentials are kept after the start',
    (world) => {
      world.items.push({
        requestId: 'request-1',
        extractionId: 'running',
        expiresAt: at(9_000).getTime() / 1_000,
      });
    },
    'requests-forgotten running',
  ],
  [
    'an expired item stays',
    (world) => {
      world.items.push({ requestId: 'r', extractionId: 'gone', expiresAt: at(-700_000).getTime() / 1_000 });
    },
    'requests-forgotten gone',
  ],
  ['the advice is another', (world) => replace(world, rejected, { advice: 'operator' }), 'advice rejected'],
  [
    'an outcome is never closed',
    (world) => replace(world, timedOut, { settledAt: iso(-100_000) }),
    'closed-in-time timed-out',
  ],
];

test.each(broken)('%s: exactly this is found', async (_, breakIt, found) => {
  const world = clean();
  breakIt(world);
  expect(await findingsIn(world)).toEqual([found]);
});

test('every rule has a deployment that it finds broken', () => {
  expect(new Set(broken.map(([, , found]) => found.split(' ')[0]))).toEqual(
    new Set(rules.map(({ id }) => id)),
  );
});

test.each([
  [
    'a closed record was erased',
    (world: World) => {
      world.records.splice(world.records.indexOf(rejected), 1);
      world.changes.push(removal(rejected));
    },
  ],
  [
    'a read had another answer of the provider before the delivery',
    (world: World) => {
      replace(world, completed, { settledBy: 'reconcile' });
      world.tasks[0] = { ...world.tasks[0], taskId: 'task-1', taskStatus: 'PARTIAL', notifiedAt: iso(31) };
    },
  ],
  [
    'a task of another extraction is not disowned yet',
    (world: World) => {
      world.tasks[1] = { taskId: 'task-2', extractionId: 'other' };
    },
  ],
  [
    'a record is of a newer version',
    (world: World) => replace(world, running, { schemaVersion: 2, status: 'NEW', deadlineAt: iso(-9_000) }),
  ],
] as const)('%s: nothing is found', async (_, change) => {
  const world = clean();
  change(world);
  expect(await findingsIn(world)).toEqual([]);
});

const fails = (error: Error): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

test('a source that cannot be read leaves the rules that need it unchecked, and no others', async () => {
  const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  const sources = { ...sourcesOf(clean()), requestItems: () => fails(denied) };
  const { rules: reports } = await audit(sources, options);
  const unchecked = reports.filter(({ result }) => result === 'unchecked');
  expect(unchecked).toMatchObject([
    { id: 'requests-forgotten', notChecked: expect.stringContaining('allow') },
  ]);
  expect(reports.filter(({ result }) => result === 'passed').length).toBe(rules.length - 1);
});

test('results are read only on request, and the report says so', async () => {
  const sources = { ...sourcesOf(clean()), stored: () => Promise.reject(new Error('was read')) };
  const { rules: reports } = await audit(sources, { ...options, results: undefined });
  const [report] = reports.filter(({ id }) => id === 'results-intact');
  expect(report).toMatchObject({
    result: 'passed',
    checked: 0,
    notChecked: expect.stringContaining('--results'),
  });
});

test('a seed draws the same requests again, and another one others', async () => {
  const world = clean();
  world.requested = Array.from({ length: 200 }, (_, index) => ({ extractionId: `e-${index}`, at: iso(0) }));
  const missing = async (seed: string) =>
    (await findingsIn(world, { sample: 5, seed })).filter((found) =>
      found.startsWith('requests-have-records'),
    );
  const drawn = await missing('one');
  expect(drawn).toHaveLength(5);
  world.requested.reverse();
  expect(new Set(await missing('one'))).toEqual(new Set(drawn));
  expect(new Set(await missing('two'))).not.toEqual(new Set(drawn));
});

const codes = [
  ...['http-400', 'http-429/BUSY', 'consent-revoked', 'held/http-503', 'login-http-401', 'login-http-503'],
  ...['unreachable', 'results-too-large', 'InternalError', 'ciphertext-expired', 'no-results'],
  ...['task-linked-elsewhere', 'credentials-refused-before', 'secret-not-filled'],
];
const shown = codes.flatMap((code) => [{ reason: code }, { lastProblem: code }, { collectionError: code }]);

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
  const lines = describeRule(
    { id: 'x', sentence: 'Every one is there.', result: 'failed', checked: 1_000, findings },
    'cosecha --stage prod explain',
  );
  expect(lines.slice(0, 3)).toEqual([
    '✗ Every one is there. 1,000 checked, 21 findings.',
    '  Lost.',
    '    → cosecha --stage prod explain e-0',
  ]);
  expect(lines.at(-1)).toBe('  … and 1 more, which --json prints.');
});

test('the audit imports types of records, and nothing else of lib/extraction', () => {
  const folder = new URL('../../../../../tools/cli/audit/', import.meta.url);
  const imports = readdirSync(folder).flatMap(
    (name) => readFileSync(new URL(name, folder), 'utf8').match(/^import .*?lib\/extraction.*$/gms) ?? [],
  );
  const lines = imports.flatMap((text) => text.match(/^import [^;]*?lib\/extraction[^;]*;/gm) ?? []);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines)
    expect(line).toMatch(/^import type \{[^}]*\} from '(\.\.\/)+lib\/extraction\/record\.ts';$/);
});
