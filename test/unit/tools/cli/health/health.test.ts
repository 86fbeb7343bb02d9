import { describe, expect, test } from 'vitest';
import { at, iso } from '#support/data/extraction-fixtures.ts';
import type { LoggedFields } from '#tools/cli/aws/logs.ts';
import { describeDeliveries, describeSubject, healthHeading } from '#tools/cli/health/describe-health.ts';
import {
  groupLines,
  type ProgressLine,
  type ProgressRow,
  parseProgressLine,
  parseQueryRow,
  progressQuery,
} from '#tools/cli/health/progress-rows.ts';
import { type HealthSource, readHealth, readHours, shareOfFailures } from '#tools/cli/health/read-health.ts';

const hour = 3_600;
const now = at(48 * hour);

/** So many seconds before now. */
const ago = (seconds: number): string => iso(48 * hour - seconds);

let made = 0;

/** A line of an extraction of its own. */
const line = (seconds: number, message: string, fields: LoggedFields): LoggedFields => {
  made += 1;
  const known = { level: 'INFO', timestamp: ago(seconds), service: 'start-task' };
  return { ...known, message, extractionId: `extraction-${made}`, ...fields };
};

const ended = (secondsAgo: number, entity: string, status: string, fields: LoggedFields = {}): LoggedFields =>
  line(secondsAgo, 'Extraction ended.', { entity, status, seconds: 40, ...fields });

/** What the functions logged: `bank` fails since an hour, `other` works, and a consent was refused. */
const logged: readonly LoggedFields[] = [
  line(90, 'Extraction requested.', { service: 'request-extraction', entity: 'bank' }),
  // Refused.
  line(80, 'Extraction requested.', { service: 'request-extraction', outcome: 'key-reused' }),
  line(70, 'Extraction started.', { entity: 'bank', seconds: 1 }),
  line(69, 'Extraction started.', { entity: 'bank', seconds: 3 }),
  // Before those that have error codes, which do not explain it.
  ended(63, 'bank', 'REJECTED', { reason: 'http-500' }),
  ...[60, 61, 62].map((seconds) => ended(seconds, 'bank', 'FAILED')),
  ...[50, 51].map((seconds) =>
    line(seconds, 'Error codes collected.', { entity: 'bank', status: 'FAILED', cause: 'TIMEOUT_ERROR' }),
  ),
  ended(48, 'bank', 'REJECTED', { reason: 'session-token-refused' }),
  ended(47, 'bank', 'CREDENTIALS_WRONG'),
  ended(46, 'bank', 'NOT_STARTED', { reason: 'start-window-over', lastProblem: 'ciphertext-expired' }),
  ...[1, 2, 3, 4].map((index) => ended(hour + index, 'bank', 'COMPLETED', { seconds: 10 * index })),
  ...[1, 2, 3].map((index) => ended(40 + index, 'other', 'COMPLETED')),
  ended(26 * hour, 'other', 'TIMED_OUT', { reason: 'deadline-passed', seconds: 7_200 }),
  line(30, 'Extraction ended.', {
    product: 'movement',
    status: 'FAILED',
    reason: 'NO_CONSENT/E1',
    seconds: 5,
  }),
  line(20, 'Reconcile finished.', { entity: 'bank', status: 'FAILED' }),
  { message: 'Extraction ended.' },
];

const lines = logged.flatMap((fields) => parseProgressLine(fields) ?? []);

/** What Logs Insights returns for the lines of the last hour: a text for each field of each row. */
const returned: readonly Readonly<Record<string, string>>[] = [
  ['Extraction requested.', 'bank', 'request-extraction', 'request-extraction', '1', '', ''],
  ['Extraction started.', 'bank', 'start-task', 'start-task', '2', '1', '3'],
  ['Extraction ended.', 'bank', 'FAILED', 'FAILED', '3', '40', '40'],
  ['Error codes collected.', 'bank', 'FAILED', 'TIMEOUT_ERROR', '2', '', ''],
  ['Extraction ended.', 'bank', 'REJECTED', 'http-500', '1', '40', '40'],
  ['Extraction ended.', 'bank', 'REJECTED', 'session-token-refused', '1', '40', '40'],
  ['Extraction ended.', 'bank', 'CREDENTIALS_WRONG', 'CREDENTIALS_WRONG', '1', '40', '40'],
  ['Extraction ended.', 'bank', 'NOT_STARTED', 'ciphertext-expired', '1', '40', '40'],
  ['Extraction ended.', 'other', 'COMPLETED', 'COMPLETED', '3', '40', '40'],
  ['Extraction ended.', 'movement', 'FAILED', 'NO_CONSENT/E1', '1', '5', '5'],
].map((texts) => {
  const names = ['message', 'subject', 'ending', 'detail', 'extractions', 'p50', 'p95'];
  return Object.fromEntries(texts.map((text, index) => [names[index], text]));
});

/** What a deployment with these lines reports, as on an emulator. */
const sourceOf =
  (logged: readonly ProgressLine[], hourOf?: (line: ProgressLine) => string): HealthSource =>
  async ({ from, to }) => {
    const within = logged.filter((one) => one.at >= from && one.at < to);
    return { items: groupLines(within, hourOf), complete: true };
  };

test('the rows of a query are those of the lines themselves', () => {
  const sorted = (rows: readonly ProgressRow[]) =>
    rows
      .map(({ first: _first, ...row }) => row)
      .toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
  const ofLines = groupLines(lines.filter((one) => one.at >= ago(hour)));
  expect(sorted(returned.flatMap((row) => parseQueryRow(row) ?? []))).toEqual(sorted(ofLines));
});

test('what ended is counted as well, by its user, by its caller, or failed by cause, and printed for each period', async () => {
  const { subjects } = await readHealth(sourceOf(lines), now);
  const printed = new Map(subjects.map((health) => [health.subject, describeSubject(health)]));
  expect([healthHeading, ...(printed.get('bank') ?? [])]).toEqual([
    '              REQUESTED    WELL  USER CALLER  FAILED        TO START      TO OUTCOME',
    'bank  4 of 7 failed in the last hour, since 11:58Z: 2 TIMEOUT_ERROR, 1 FAILED, 1 REJECTED http-500.',
    '  last hour           1       0     1      2       4        1 s, 3 s               –',
    '  hour before         0       4     0      0       0               –      20 s, 40 s',
    '  last day            1       4     1      2       4        1 s, 3 s      20 s, 40 s',
    '  day before          0       0     0      0       0               –               –',
  ]);
  expect(printed.get('other')?.[0]).toBe('other  None of 3 failed in the last hour.');
});

test('the hours of the last day have what ended and failed, from the lines as from a query', async () => {
  const hourOf = ({ at }: ProgressLine) => `${at.slice(0, 13)}:00:00.000Z`;
  const hours = await readHours(sourceOf(lines, hourOf), now);
  const ofBank = hours.filter(({ subject }) => subject === 'bank');
  expect(ofBank.reduce((sum, { ended }) => sum + ended, 0)).toBe(11);
  expect(ofBank.reduce((sum, { failed }) => sum + failed, 0)).toBe(4);
  expect(new Set(ofBank.map(({ hour: begin }) => begin)).size).toBe(ofBank.length);
  const query = progressQuery({ from: iso(0), to: iso(1) }, true);
  const [begin, end] = [at(0), at(1)].map((time) => time.getTime());
  expect(query).toContain(`| filter at >= ${begin} and at < ${end} | fields fromMillis(at) as time`);
  expect(query).toContain(' by hour, message, subject');
  const row = { ...returned[0], hour: '2026-11-22 03:00:00.000', first: String(at(5).getTime()) };
  expect(parseQueryRow(row)).toMatchObject({ hour: '2026-11-22T03:00:00.000Z', first: iso(5) });
});

describe('lines that are repeated, late or taken back', () => {
  const settled = (secondsAgo: number) => {
    const settledMs = Date.parse(ago(secondsAgo));
    return { settledMs, entity: 'bank', seconds: 40 };
  };
  const of = async (...logged: readonly LoggedFields[]) => {
    const parsed = logged.flatMap((fields) => parseProgressLine(fields) ?? []);
    const [bank] = (await readHealth(sourceOf(parsed), now)).subjects;
    return bank;
  };

  test('each extraction counts once, at the time of its request and of its outcome, however often and late it is logged', async () => {
    const logged = Array.from({ length: 300 }, (_, index) => {
      const fields = { ...settled(30), status: 'COMPLETED', extractionId: `busy-${index}` };
      const late = { ...settled(hour + 30), status: 'FAILED', extractionId: `late-${index}` };
      return [
        ...[29, 20, 1].slice(0, 1 + (index % 3)).map((seconds) => line(seconds, 'Extraction ended.', fields)),
        line(10, 'Extraction ended.', late),
        // As a caller repeats it whose first answer was an error.
        line(10, 'Extraction requested.', {
          ...late,
          settledMs: undefined,
          requestedMs: Date.parse(ago(hour + 60)),
        }),
        // As the sweep repeats it, without the seconds.
        line(5, 'Extraction ended.', { ...fields, seconds: undefined, again: true }),
      ];
    });
    expect(await of(...logged.flat())).toMatchObject({
      lastHour: { requested: 0, ended: 300, well: 300, failed: 0, toOutcome: { p50: 40, p95: 40 } },
      hourBefore: { requested: 300, ended: 300, failed: 300 },
    });
  });

  test('codes count in the hour of their outcome, and not of their collection', async () => {
    const fields = { ...settled(hour + 1), status: 'FAILED', extractionId: 'collected-late' };
    const bank = await of(
      line(hour, 'Extraction ended.', fields),
      line(10, 'Error codes collected.', { ...fields, cause: 'TIMEOUT_ERROR' }),
    );
    expect(bank).toMatchObject({
      lastHour: { failed: 0, causes: [] },
      hourBefore: { causes: [{ cause: 'TIMEOUT_ERROR', count: 1 }] },
    });
  });

  test('a correction counts once', async () => {
    const timedOut = { status: 'TIMED_OUT', reason: 'deadline-passed', extractionId: 'corrected' };
    const bank = await of(
      line(50, 'Extraction ended.', { ...settled(50), ...timedOut }),
      line(10, 'Extraction ended.', { ...settled(10), status: 'COMPLETED', extractionId: 'corrected' }),
      line(10, 'Outcome corrected.', { ...settled(50), ...timedOut }),
    );
    expect(bank?.lastHour).toMatchObject({ ended: 1, well: 1, failed: 0, causes: [] });
  });
});

test('the worst is first: one of one ranks below six of twenty, and what its caller made wrong is no failure', async () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ['typo', 'REJECTED http-400', 1],
    ['movement', 'UNCONFIRMED start-interrupted', 1],
    ['bank', 'FAILED', 6],
    ['bank', 'COMPLETED', 14],
  ];
  const items = rows.map(([subject, what, count]) => ({ subject, step: 'ended', what, count }) as const);
  const { subjects } = await readHealth(async () => ({ items, complete: true }), now);
  expect(subjects.map(({ subject, kind, lastHour }) => [subject, kind, lastHour])).toMatchObject([
    ['bank', 'entity', { failed: 6, caller: 0 }],
    ['movement', 'product', { failed: 1, caller: 0 }],
    ['typo', 'entity', { failed: 0, caller: 1 }],
  ]);
});

test.each([
  [1, 1, 0.207, 1],
  [10, 10, 0.722, 1],
  [0, 0, 0, 1],
])('the share of %d failures of %d is from %d to %d', (failed, ended, least, most) => {
  const share = shareOfFailures({ failed, ended });
  expect([share.least, share.most]).toEqual([expect.closeTo(least, 3), expect.closeTo(most, 3)]);
});

/** How many failed, and how many ended well. */
type Counts = readonly [number, number];

test.each<[Counts, Counts, string]>([
  [[9, 3], [1, 40], 'worse'],
  [[1, 1], [0, 2], 'same'],
  [[0, 40], [9, 3], 'better'],
  [[0, 5], [0, 5], 'slower'],
  [[0, 4], [0, 5], 'same'],
])('where chance does not explain it, %j after %j is %s', async (after, before, change) => {
  const rows = ([failed, well]: Counts, p95: number): ProgressRow[] => [
    { subject: 'bank', step: 'ended', what: 'FAILED', count: failed },
    { subject: 'bank', step: 'ended', what: 'COMPLETED', count: well, p50: 1, p95 },
  ];
  const source: HealthSource = async ({ to }) => ({
    items: to === ago(0) ? rows(after, 61) : rows(before, 30),
    complete: true,
  });
  const { subjects } = await readHealth(source, now);
  expect(subjects[0]?.hourChange).toBe(change);
});

const checked = (verified: number, refused: number) =>
  [...Array(verified).fill('key-1'), ...Array(refused).fill(undefined)].map((verifiedBy) => ({ verifiedBy }));

test.each([
  [2, 1, true, 'Deliveries of the last hour: 2 verified, 1 refused as no key fits.'],
  [3, 40, false, 'Deliveries of the last hour: at least 3 verified, at least 40 refused as no key fits.'],
])(
  '%d verified and %d refused deliveries are counted apart, of all: %s',
  (verified, refused, isWhole, text) => {
    expect(describeDeliveries(checked(verified, refused), isWhole)).toBe(text);
  },
);
