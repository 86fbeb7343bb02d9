import { expect, test } from 'vitest';
import type { Admission } from '../../../../lib/breaker/circuit-breaker.ts';
import { ProviderPaused, type Verdict } from '../../../../lib/breaker/provider-trouble.ts';
import { guardReads } from '../../../../lib/extraction/guard-reads.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { ProviderAmbiguous, ProviderBusy } from '../../../../lib/provider/transport/errors.ts';
import { at, extractionIn, id, iso } from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { memoryJournal } from '../../../support/memory-journal.ts';

const running = { kind: 'running', known: true } as const;
const busy = () =>
  Object.assign(new ProviderBusy('429'), { retryAfter: { kind: 'delay', seconds: 60 } as const });

const world = (
  setup: { readonly admission?: Admission; readonly error?: Error; readonly row?: Partial<Extraction> } = {},
) => {
  const extractions = memoryExtractionStore();
  const record = { ...extractionIn('RUNNING'), ...setup.row } as Extraction;
  extractions.rows.set(id, record);
  const admission = setup.admission ?? { kind: 'pass' };
  const reported: [Admission, Verdict][] = [];
  let reads = 0;
  const read = guardReads(
    async () => {
      reads += 1;
      if (setup.error !== undefined) throw setup.error;
      return running;
    },
    {
      extractions,
      now: () => at(100),
      journal: memoryJournal().journal,
      breaker: {
        admit: async () => admission,
        report: async (of, verdict) => void reported.push([of, verdict]),
      },
    },
  );
  return {
    read: () => read(record, 'task-1'),
    reported,
    reads: () => reads,
    row: () => extractions.rows.get(id),
  };
};

test('a read that the breaker admits is made, and reported as a success', async () => {
  const { read, reported } = world({ admission: { kind: 'probe', id: 'p' } });
  expect(await read()).toEqual(running);
  expect(reported).toEqual([[{ kind: 'probe', id: 'p' }, { kind: 'success' }]]);
});

test('a read that the breaker stops is not made', async () => {
  const { read, reads, reported } = world({ admission: { kind: 'stop' } });
  await expect(read()).rejects.toBeInstanceOf(ProviderPaused);
  expect([reads(), reported]).toEqual([0, []]);
});

test('a failure is reported, and thrown as it was', async () => {
  const error = new ProviderAmbiguous('503', { status: 503 });
  const { read, reported } = world({ error });
  await expect(read()).rejects.toBe(error);
  expect(reported).toEqual([[{ kind: 'pass' }, { kind: 'trouble' }]]);
});

test('after a 429 with Retry-After the record says before when nothing is read', async () => {
  const { read, row, reported } = world({ error: busy() });
  await expect(read()).rejects.toBeInstanceOf(ProviderBusy);
  expect(row()?.notBefore).toBe(iso(160));
  expect(reported).toEqual([[{ kind: 'pass' }, { kind: 'nothing' }]]);
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
