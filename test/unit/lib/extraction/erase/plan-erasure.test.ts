import { expect, test } from 'vitest';
import { pauseWhileOpen, planErasure } from '#lib/extraction/erase/plan-erasure.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import {
  at,
  closedExtraction,
  extraction,
  extractionIn,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';

const planned = (record: Extraction | undefined, seconds = 10_000, given = timings) =>
  planErasure(record, 'request-1', at(seconds), given);

/** A record that was closed at this time. */
const closedAt = (seconds: number, fields: Parameters<typeof closedExtraction>[0]): Extraction =>
  closedExtraction({
    taskId: 'task-1',
    expiresAt: Math.floor(at(seconds).getTime() / 1000) + timings.recordRetention,
    ...fields,
  });

const erasingAt = iso(9_000);

test.each([
  ...(['STARTING', 'RUNNING', 'COMPLETED', 'TIMED_OUT'] as const).map(
    (status) => [status, extractionIn(status)] as const,
  ),
  ['closed TIMED_OUT', closedExtraction({ status: 'TIMED_OUT' })],
  ['closed UNCONFIRMED', closedExtraction({ status: 'UNCONFIRMED' })],
] as const)('what may still bring results is marked first, once: %s', (_what, record) => {
  expect(planned(record)).toMatchObject({
    kind: 'write',
    change: { when: { status: [record.status], notErasing: true }, set: { erasingAt: iso(10_000) } },
  });
  const again = planned({ ...record, erasingAt });
  expect(again.kind === 'write' && 'erasingAt' in again.change.set).toBe(false);
});

test('what is closed with a final outcome needs no mark, and an advice that was written beside it is corrected', () => {
  expect(planned(closedExtraction({ status: 'REJECTED' })).kind).toBe('remove');
  const advised = closedExtraction({ status: 'UNCONFIRMED', advice: 'ask-provider', erasingAt });
  expect(planned(advised)).toMatchObject({ kind: 'write', change: { set: { advice: 'none' } } });
});

test('results that were not stored yet never are', () => {
  expect(planned(extractionIn('COMPLETED', { erasingAt }))).toMatchObject({
    kind: 'write',
    change: { set: { collectionError: 'erased', advice: 'none' } },
  });
});

test('a TIMED_OUT is closed without grace', () => {
  expect(planned(extractionIn('TIMED_OUT', { erasingAt }))).toMatchObject({
    kind: 'write',
    change: { when: { status: ['TIMED_OUT'] }, set: { expiresAt: expect.any(Number) } },
  });
});

test.each(['STARTING', 'RUNNING'] as const)('an open %s is left to end by itself', (status) => {
  expect(planned(extractionIn(status, { erasingAt }))).toEqual({ kind: 'open' });
});

test('an open record of a newer version is left alone', () => {
  const newer = { ...extraction(), schemaVersion: 2 } as unknown as Extraction;
  expect(planned(newer)).toEqual({ kind: 'open' });
});

test('nothing is removed while a process that read the record open may still write', () => {
  const collected = closedAt(40, { status: 'COMPLETED', collectedAt: iso(40) });
  // Its clock may be behind by 10 s.
  expect(planned(collected, 169)).toEqual({ kind: 'too-fresh', until: iso(170) });
  expect(planned(collected, 170)).toEqual({ kind: 'remove' });
  // A time that somebody has damaged delays nothing, and is no reason to keep the record.
  expect(planned({ ...collected, settledAt: 'no time' }, 170)).toEqual({ kind: 'remove' });
  // A start may be configured to take longer.
  expect(planned(collected, 170, { ...timings, startTimeout: 300 })).toEqual({
    kind: 'too-fresh',
    until: iso(350),
  });
});

test('a close that shows only in expiresAt counts, and a retention that was shortened since delays nothing', () => {
  const abandoned = closedAt(9_950, { status: 'COMPLETED', collectionError: 'no-results' });
  expect(planned(abandoned)).toEqual({ kind: 'too-fresh', until: iso(9_950 + 130) });
  const collected = closedAt(40, { status: 'COMPLETED', collectedAt: iso(40) });
  expect(planned(collected, 10_000, { ...timings, recordRetention: 60 })).toEqual({ kind: 'remove' });
});

test('an open record is read again after as long as it has waited, from 30 s to 15 minutes', () => {
  expect([1, 100, 5_000].map((seconds) => pauseWhileOpen(iso(0), at(seconds)))).toEqual([30, 100, 900]);
});
