import { parseRead, readCallFrom } from '#lib/extraction/reconcile/read-task.ts';
import type { ReconcileDeps } from '#lib/extraction/reconcile/reconcile.ts';
import type { SealedTargetData } from '#lib/extraction/sealed-request-data.ts';
import { readExtraction } from '#lib/provider/extractions/read-extraction.ts';
import type { TaskReading } from '#lib/provider/tasks/read-task.ts';
import type { Fetch } from '#lib/provider/transport/fetch-type.ts';
import type { Connection } from '#lib/provider/transport/send-request.ts';
import { endedReading } from '../models/provider.ts';
import type { Process } from '../world/process.ts';
import { maxBytes, type ReadAnswer } from '../world/provider.ts';
import { settings, timings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { pausesFor } from './breakers.ts';
import { sendFor, sessionsFor, taskTokensFor, unsealFor } from './calls.ts';
import { endWaitFor } from './line.ts';
import { tablesFor } from './tables.ts';

const bytes = new TextEncoder().encode('secret-results []');
const bytesWhileLagging = new TextEncoder().encode('secret-results');

const taskReading = (answer: ReadAnswer): TaskReading => {
  if (answer.kind === 'running') return { taskStatus: answer.taskStatus, results: null, bytes };
  const { status, lagging } = answer;
  return endedReading(status, lagging === undefined ? bytes : bytesWhileLagging, lagging);
};

/** The part of HTTP that a poll needs, so that the real client interprets status and body. */
const pollsOf = (world: World, process: Process, taskId: string): Connection => {
  const fetch: Fetch = async () => {
    const { status, body } = await world.kernel.call(process, world.provider.poll(taskId));
    const bytes = async function* (): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from(body);
    };
    return { status, body: Object.assign(bytes(), { cancel: async () => undefined }) };
  };
  return {
    baseUrl: 'https://provider.example',
    fetch,
    totalTimeoutMs: settings.providerTimeoutMs,
    maxAnswerBytes: maxBytes,
  };
};

/** The dependencies of reconcile in one process, and its clock. */
export const reconcileDepsFor = (world: World, process: Process, now: () => Date): ReconcileDeps => {
  const { kernel, provider } = world;
  world.readers.push(process);
  const unseal = unsealFor(world, process);
  const readFromProvider = (): void => world.state('providerRead', { by: process });
  const tables = tablesFor(world, process);
  const readCallFor = readCallFrom({
    ...tables,
    unsealTarget: unseal<SealedTargetData>,
    providerFor: () => ({
      sessions: sessionsFor(world, process),
      taskTokens: taskTokensFor(world, process),
      readTask: async (_token, taskId) => {
        readFromProvider();
        return taskReading(await kernel.call(process, provider.read(taskId)));
      },
      readExtraction: (token, taskId, variant) => {
        readFromProvider();
        return readExtraction(pollsOf(world, process, taskId), token, { variant, taskId, parse: parseRead });
      },
    }),
  });
  const isPaused = pausesFor(world, process);
  return {
    ...tables,
    ...endWaitFor(world, process),
    isPaused: (calls) => {
      process.reads += 1;
      world.state('read', { by: process });
      return isPaused(calls);
    },
    readCallFor,
    send: sendFor(world, process),
    sendSlow: sendFor(world, process, true),
    storeResults: (extractionId, stored) =>
      kernel.call(process, {
        name: 'store results',
        kind: 'write',
        take: () => {
          world.state('storing', { by: process });
          // Only what lags has no array.
          const isComplete = Buffer.from(stored).includes('[]');
          const key = `${extractionId}/${isComplete ? 'complete' : 'incomplete'}.json`;
          const { requestId = '' } = process.lastSeen ?? {};
          world.erasing.objects.set(`${requestId} ${key}`, { requestId });
          return { bucket: 'results', key, bytes: stored.byteLength, sha256: '0'.repeat(64) };
        },
      }),
    now,
    timings,
    telemetry: world.telemetry,
  };
};
