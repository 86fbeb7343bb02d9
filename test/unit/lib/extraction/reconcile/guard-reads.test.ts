import { expect, test } from 'vitest';
import type { Attempt } from '../../../../../lib/breaker/circuit-breaker.ts';
import { ProviderPaused } from '../../../../../lib/breaker/provider-trouble.ts';
import { guardReads, tokensFor } from '../../../../../lib/extraction/reconcile/guard-reads.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { withSession } from '../../../../../lib/provider/tokens/tokens.ts';
import { ProviderAmbiguous, ProviderBusy } from '../../../../../lib/provider/transport/errors.ts';
import { at, extractionIn, id, iso } from '../../../../support/extraction-fixtures.ts';
import { circuitOf } from '../../../../support/memory-breaker-store.ts';
import { memoryExtractionStore } from '../../../../support/memory-extraction-store.ts';
import { memoryTelemetry } from '../../../../support/memory-telemetry.ts';

const running = { kind: 'running', known: true } as const;
const asking = <E extends Error>(error: E): E =>
  Object.assign(error, { retryAfter: { kind: 'delay', seconds: 60 } as const });
const busy = () => asking(new ProviderBusy('429'));
const unavailable = () => asking(new ProviderAmbiguous('503', { status: 503 }));

type Setup = {
  readonly kind?: Attempt['kind'] | 'held';
  readonly error?: Error;
  readonly loginError?: Error;
  readonly row?: Partial<Extraction>;
};

const world = ({ kind = 'ordinary', error, loginError, row }: Setup = {}) => {
  const extractions = memoryExtractionStore();
  const record = { ...extractionIn('RUNNING'), ...row } as Extraction;
  extractions.rows.set(id, record);
  const { breaker, noted } = circuitOf(kind);
  let reads = 0;
  const current = () => (loginError === undefined ? Promise.resolve('token') : Promise.reject(loginError));
  const read = guardReads(
    (_record, _taskId, attempt) =>
      withSession(tokensFor({ current, drop: () => undefined }, attempt), () =>
        attempt.make(async () => {
          reads += 1;
          if (error !== undefined) throw error;
          return running;
        }),
      ),
    { extractions, now: () => at(100), telemetry: memoryTelemetry().telemetry, breaker },
  );
  return {
    read: ({ isLast = false } = {}) => read(record, 'task-1', { isLast }),
    noted,
    reads: () => reads,
    row: () => extractions.rows.get(id),
  };
};

test('a read that the breaker admits is made, after the call for its token', async () => {
  const { read, noted } = world({ kind: 'probe' });
  expect(await read()).toEqual(running);
  expect(noted).toEqual(['prepare', 'make', 'end']);
});

test('a read that the breaker holds is not made', async () => {
  const { read, reads } = world({ kind: 'held' });
  await expect(read()).rejects.toBeInstanceOf(ProviderPaused);
  expect(reads()).toBe(0);
});

test('a failure is thrown as it was', async () => {
  const error = new ProviderAmbiguous('503', { status: 503 });
  const { read, noted, row } = world({ error });
  await expect(read()).rejects.toBe(error);
  expect(noted).toEqual(['prepare', 'make failed', 'end']);
  expect(row()?.notBefore).toBeUndefined();
});

test.each([
  ['429', busy()],
  ['503', unavailable()],
])('after a %s with Retry-After the record says before when nothing is read', async (_, error) => {
  const { read, row } = world({ error });
  await expect(read()).rejects.toBe(error);
  expect(row()?.notBefore).toBe(iso(160));
});

test.each([
  ['429 delays its extraction', busy(), iso(160)],
  ['503 does not, as it is about all extractions', unavailable(), undefined],
])('the Retry-After of a login with %s', async (_, loginError, notBefore) => {
  const { read, row } = world({ loginError });
  await expect(read()).rejects.toBe(loginError);
  expect(row()?.notBefore).toBe(notBefore);
});

test.each([
  [99, 1],
  [100, 1],
  [101, 0],
])('with notBefore at %i s, at 100 s, %i reads are made', async (notBefore, made) => {
  const { read, reads } = world({ row: { notBefore: iso(notBefore) } });
  await read().catch(() => undefined);
  expect(reads()).toBe(made);
});

test('the last read is made before notBefore, too, and says so to the breaker', async () => {
  const { read, noted } = world({ kind: 'last', row: { notBefore: iso(101) } });
  expect(await read({ isLast: true })).toEqual(running);
  expect(noted[0]).toBe('last');
});
