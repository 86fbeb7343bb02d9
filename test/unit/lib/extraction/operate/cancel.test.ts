import { expect, test } from 'vitest';
import { WaitContended } from '#lib/extraction/end-wait.ts';
import { answerCancel, cancel } from '#lib/extraction/operate/cancel.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { extraction, extractionIn, timings } from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';
import { memoryRequestStore } from '../../../../support/stores/memory-request-store.ts';
import { memoryStartLine } from '../../../../support/stores/memory-start-line.ts';

const now = new Date('2026-03-01T12:00:05.000Z');

const worldWith = async (record: Extraction, isInLine: boolean) => {
  const { extractionId, requestId } = record;
  const extractions = memoryExtractionStore();
  extractions.items.set(extractionId, record);
  const requests = memoryRequestStore();
  await requests.put({ requestId, extractionId, sealed: 'sealed', expiresAt: 1e11 });
  const startLine = memoryStartLine();
  if (isInLine) {
    await startLine.write({
      extractionId,
      requestId,
      attempt: 0,
      slot: 'slot',
      waitedMs: 0,
      expiresAt: 1e11,
    });
    startLine.enter(extractionId, requestId, 'token');
  }
  const woken: string[] = [];
  const { telemetry, counted } = memoryTelemetry();
  const deps = {
    extractions,
    requests,
    startLine,
    wake: async (token: string) => {
      woken.push(token);
      return 'woken' as const;
    },
    send: async () => undefined,
    now: () => now,
    timings,
    telemetry,
  };
  return { deps, extractions, requests, startLine, woken, counted };
};

test('an execution that begins to wait meanwhile is woken as well', async () => {
  const record = extraction();
  const { extractionId, requestId } = record;
  const { deps, startLine, woken } = await worldWith(record, false);
  await startLine.write({ extractionId, requestId, attempt: 0, slot: 'slot', waitedMs: 0, expiresAt: 1e11 });
  let isFound = false;
  const find: typeof startLine.find = async (id) => {
    const found = await startLine.find(id);
    if (!isFound) startLine.enter(id, requestId, 'token');
    isFound = true;
    return found;
  };
  await cancel(extractionId, 'cancelled', { ...deps, startLine: { ...startLine, find } });
  expect(woken).toEqual(['token']);
  expect(await startLine.find(extractionId)).toBeUndefined();
});

test('a repetition ends the wait of one whose cancellation was interrupted', async () => {
  const record = extraction();
  const { deps, woken } = await worldWith(record, true);
  const failing = { ...deps, wake: () => Promise.reject(new Error('interrupted')) };
  await expect(cancel(record.extractionId, 'cancelled', failing)).rejects.toThrow('interrupted');
  const again = await cancel(record.extractionId, 'cancelled', deps);
  expect(answerCancel(record.extractionId, again).cancelled).toBe(true);
  expect(woken).toEqual(['token']);
});

test('a wait that cannot be ended is no success', async () => {
  const record = extraction();
  const { deps, startLine } = await worldWith(record, true);
  const contended = { ...startLine, withdraw: async () => false };
  const cancelled = cancel(record.extractionId, 'cancelled', { ...deps, startLine: contended });
  await expect(cancelled).rejects.toThrow(WaitContended);
});

test('what is being started is not cancelled any more', async () => {
  const record = extractionIn('STARTING');
  const { deps, extractions } = await worldWith(record, false);
  const result = await cancel(record.extractionId, 'cancelled', deps);
  expect(result).toMatchObject({ conclusion: 'not-cancelled', explanation: 'start-claimed' });
  expect(answerCancel(record.extractionId, result).cancelled).toBe(false);
  expect(await extractions.get(record.extractionId)).toEqual(record);
});
