import type { Extraction } from '#lib/extraction/record.ts';
import { clock, id, timings } from '../data/extraction-fixtures.ts';
import { memoryTelemetry } from '../data/memory-telemetry.ts';
import { closedCircuit } from './memory-breaker-store.ts';
import { memoryExtractionStore } from './memory-extraction-store.ts';
import { memoryMarks } from './memory-refused-credentials-store.ts';
import { memoryRequestStore, storedRequest } from './memory-request-store.ts';
import { openLine } from './memory-start-line.ts';
import { memoryTaskStore } from './memory-task-store.ts';
import type { StoreFaults } from './store-fault.ts';

/** What a start needs beside the stores and its call. Neither a breaker nor the rate holds it. */
export const startDeps = {
  breaker: closedCircuit,
  startLine: openLine(),
  whenSlow: () => () => undefined,
  maxCallMs: 20_000,
  logIn: async () => undefined,
  newAttemptId: () => 'attempt-1',
  wake: async () => 'woken' as const,
};

type Setup = {
  /** In seconds after the request; 5 by default. */
  readonly now?: number;
  readonly faults?: StoreFaults | undefined;
  readonly onMessage?: (message: string) => void;
};

/**
 * One extraction in its stores, with the item of its request. `deps` is what a start, a reconcile and a delivery use alike.
 * `seen` is what a test looks at.
 */
export const extractionInMemory = (record: Extraction | undefined, setup: Setup = {}) => {
  const { now = 5, faults, onMessage } = setup;
  const extractions = memoryExtractionStore(faults);
  if (record !== undefined) extractions.items.set(id, record);
  const tasks = memoryTaskStore(faults);
  const requests = memoryRequestStore(faults, storedRequest(id));
  const marks = memoryMarks(faults);
  const time = clock(now);
  const { telemetry, ...reported } = memoryTelemetry(onMessage);
  return {
    deps: { extractions, tasks, requests, ...marks, now: time.now, timings, telemetry },
    seen: {
      extractions,
      tasks,
      requests,
      time,
      ...reported,
      record: () => extractions.items.get(id),
      task: () => tasks.items.get('task-1'),
      refusals: marks.refusals,
      marks: () => [...marks.refusals.items.values()],
    },
  };
};
