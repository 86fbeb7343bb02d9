import fc from 'fast-check';
import { v7 as newUuid } from 'uuid';
import { describe, expect, test } from 'vitest';
import { failureReason } from '../../../../lib/extraction/advice.ts';
import { extractionIdOf } from '../../../../lib/extraction/api/idempotency.ts';
import {
  dueShardCount,
  dueShardOf,
  isStartStale,
  nextReconcileAt,
  parseTimings,
  plusSeconds,
  stuckSeconds,
} from '../../../../lib/extraction/deadlines.ts';
import type { ExtractionStatus } from '../../../../lib/extraction/record.ts';
import { decodeSealed, encodeSealed } from '../../../../lib/extraction/sealed-request-data.ts';
import {
  at,
  closedExtraction,
  extractionIn,
  iso,
  timings,
} from '../../../support/data/extraction-fixtures.ts';

test('the environment variable is parsed', () => {
  expect(parseTimings(JSON.stringify(timings))).toEqual(timings);
});

test.each<readonly [string, object]>([
  ['a missing one', { grace: undefined }],
  ['an unknown one', { patience: 1 }],
  ['zero', { pollEvery: 0 }],
  ['a negative one', { pollEvery: -1 }],
  ['a fraction', { pollEvery: 1.5 }],
  ['a text', { pollEvery: '120' }],
])('%s is refused at cold start', (_what, change) => {
  expect(() => parseTimings(JSON.stringify({ ...timings, ...change }))).toThrow();
});

test('malformed JSON is refused at cold start', () => {
  expect(() => parseTimings('900')).toThrow();
  expect(() => parseTimings('')).toThrow();
});

test('adding seconds keeps the milliseconds', () => {
  expect(plusSeconds('2026-02-28T23:59:59.123Z', 1)).toBe('2026-03-01T00:00:00.123Z');
  expect(plusSeconds(new Date('2026-01-01T00:00:00.000Z'), 0.5)).toBe('2026-01-01T00:00:00.500Z');
});

describe('the next reconcile', () => {
  test('is never sooner than the floor', () => {
    expect(nextReconcileAt(iso(0), at(0), 120, 3_600)).toBe(iso(120));
    expect(nextReconcileAt(iso(0), at(119), 120, 3_600)).toBe(iso(119 + 120));
  });

  test('comes after a pause as long as the wait so far', () => {
    expect(nextReconcileAt(iso(0), at(600), 120, 3_600)).toBe(iso(1_200));
  });

  test('is never later than the ceiling', () => {
    expect(nextReconcileAt(iso(0), at(50_000), 120, 3_600)).toBe(iso(53_600));
  });

  test('is always in the future', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100, max: 1e6 }), fc.integer({ min: 1, max: 9_999 }), (now, floor) => {
        expect(nextReconcileAt(iso(0), at(now), floor, floor + 100) > iso(now)).toBe(true);
      }),
    );
  });
});

const starting = extractionIn('STARTING', { startingAt: iso(10) });

test.each([
  [10, false],
  [10 + 59.999, false],
  // Lambda ends it at 60 s: until that very moment it may yet POST.
  [10 + 60, false],
  [10 + 60.001, true],
  [10 + 86_400, true],
  // A clock that is behind the one that made the STARTING write.
  [0, false],
])('a start that was claimed at 10 s is stale at %f s: %s', (now, stale) => {
  expect(isStartStale(starting, at(now), timings)).toBe(stale);
});

test('a start without a STARTING write is stale', () => {
  const { startingAt: _startingAt, ...unmarked } = starting;
  expect(isStartStale(unmarked, at(0), timings)).toBe(true);
});

const { startWindow, startTimeout, deadline, machineSlack, grace, collectFor } = timings;

test.each([
  ['REQUESTED', {}, startWindow],
  ['STARTING', { startingAt: iso(100) }, 100 + startTimeout],
  ['RUNNING', {}, deadline + machineSlack],
  ['TIMED_OUT', { settledAt: iso(8_000) }, 8_000 + grace],
  ['COMPLETED', { settledAt: iso(50) }, 50 + collectFor],
  // A correction, come with the end of grace: a day to collect is left.
  ['FAILED', { settledAt: iso(90_000) }, 90_000 + collectFor],
] as const satisfies readonly (readonly [ExtractionStatus, object, number])[])(
  '%s with %o is stuck after %d s, however often it was rescheduled',
  (status, fields, movesOn) => {
    const record = extractionIn(status, { ...fields, dueAt: iso(1_000_000) });
    expect(stuckSeconds(record, at(movesOn - 10), timings)).toBe(0);
    expect(stuckSeconds(record, at(movesOn), timings)).toBe(0);
    expect(stuckSeconds(record, at(movesOn + 12.5), timings)).toBe(12.5);
  },
);

test('a closed record is never stuck', () => {
  const closed = closedExtraction({ status: 'COMPLETED', settledAt: iso(50) });
  expect(stuckSeconds(closed, at(10_000_000), timings)).toBe(0);
});

test.each([
  ['hashed from idempotency keys', (index: number) => extractionIdOf('caller', `key-${index}`)],
  ['drawn one after the other', () => newUuid()],
])('ids %s are distributed evenly over the partitions', (_what, makeId) => {
  const counts = new Array<number>(dueShardCount).fill(0);
  for (let index = 0; index < 8_000; index += 1) {
    const shard = dueShardOf(makeId(index));
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  // 500 each on average, with a standard deviation of 22: six of them either way.
  expect(Math.min(...counts)).toBeGreaterThan(368);
  expect(Math.max(...counts)).toBeLessThan(632);
});

test('an id never changes its partition, so that every release finds existing records', () => {
  // FNV-1a, 32 bits (published test vectors): "" is 0x811c9dc5, "a" is 0xe40c292c, "foobar" is 0xbf9cf968.
  expect(dueShardOf('')).toBe(0x811c9dc5 % 16);
  expect(dueShardOf('a')).toBe(0xe40c292c % 16);
  expect(dueShardOf('foobar')).toBe(0xbf9cf968 % 16);
});

test.each<readonly [string, { errorType: string; errorCode?: string }, string]>([
  ['a type alone', { errorType: 'ENTITY' }, 'ENTITY'],
  ['a type and a code', { errorType: 'ENTITY', errorCode: 'DOWN' }, 'ENTITY/DOWN'],
  ['a code with a number', { errorType: 'ENTITY', errorCode: 'E1042' }, 'ENTITY/E1042'],
  ['hyphens and dots', { errorType: 'entity-error', errorCode: 'bank.down' }, 'entity_error/bank_down'],
  ['a sentence', { errorType: 'The user Ana is not known' }, 'OTHER'],
  ['an empty code', { errorType: 'ENTITY', errorCode: '' }, 'ENTITY/OTHER'],
  ['a national id', { errorType: '11111111-1', errorCode: 'RUT-11.111.111-1' }, 'OTHER/OTHER'],
  ['what is too long for a word', { errorType: 'X'.repeat(65) }, 'OTHER'],
])('%s', (_what, failure, reason) => {
  expect(failureReason(failure)).toBe(reason);
});

test('the reason is one or two short codes, for any text of the provider', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (errorType, errorCode) => {
      const reason = failureReason({ errorType, ...(errorCode === undefined ? {} : { errorCode }) });
      expect(reason).toMatch(/^[A-Za-z]\w{0,63}(\/[A-Za-z]\w{0,63})?$/);
    }),
  );
});

test('any credentials come back as they were', () => {
  const value = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
  fc.assert(
    fc.property(value, fc.option(fc.string(), { nil: undefined }), (fields, sessionToken) => {
      const given = {
        credentials: { mode: 'raw' as const, value: JSON.parse(JSON.stringify(fields)) },
        ...(sessionToken === undefined ? {} : { sessionToken }),
      };
      expect(decodeSealed(encodeSealed(given))).toEqual(given);
    }),
  );
});

test('its size is counted in bytes of UTF-8', () => {
  const size = (password: string) =>
    encodeSealed({ credentials: { mode: 'raw', value: { password } } }).byteLength;
  expect(size('ñ') - size('')).toBe(2);
});
