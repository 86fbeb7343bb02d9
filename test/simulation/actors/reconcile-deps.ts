import type { Attempt } from '../../../lib/breaker/circuit-breaker.ts';
import { countReads } from '../../../lib/extraction/reconcile/count-reads.ts';
import { findSealedTarget } from '../../../lib/extraction/reconcile/find-sealed-target.ts';
import { guardReads, type ReadTask, tokensFor } from '../../../lib/extraction/reconcile/guard-reads.ts';
import { parseRead, readingOfExtraction, readTaskWith } from '../../../lib/extraction/reconcile/reading.ts';
import type { ReconcileCaller, ReconcileDeps } from '../../../lib/extraction/reconcile/steps.ts';
import type { ConsentExtraction } from '../../../lib/extraction/record.ts';
import type { SealedTargetData } from '../../../lib/extraction/sealed-request-data.ts';
import { readExtraction } from '../../../lib/provider/extractions/read-extraction.ts';
import type { TaskReading } from '../../../lib/provider/tasks/read-task.ts';
import { tokensOf } from '../../../lib/provider/tokens/task-tokens.ts';
import { withSession } from '../../../lib/provider/tokens/with-session.ts';
import type { Fetch } from '../../../lib/provider/transport/fetch.ts';
import type { Connection } from '../../../lib/provider/transport/send-request.ts';
import type { Process } from '../world/process.ts';
import { mostBytes, type ReadAnswer } from '../world/provider.ts';
import { settings, timings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { breakerFor } from './breakers.ts';
import { tablesFor } from './tables.ts';
import { sessionsFor, taskTokensFor } from './tokens.ts';
import { unsealFor } from './unseal.ts';

const bytes = new TextEncoder().encode('secret-results');

const taskReading = (answer: ReadAnswer): TaskReading => {
  if (answer.kind === 'running') return { taskStatus: answer.taskStatus, results: null, bytes };
  const without = answer.status === 'CREDENTIALS_WRONG' || answer.status === 'CREDENTIALS_LOCKED';
  // Free text about the user in place of a code.
  const error = answer.status === 'FAILED' ? { error: { code: 'secret-user is not known' } } : {};
  const results = without ? null : { actions: [{ id: 'product-balance', status: answer.status, ...error }] };
  return { taskStatus: answer.status, results, bytes };
};

/** The part of HTTP that a poll needs, so that the real client interprets status and body. */
const pollsOf = (world: World, process: Process, taskId: string): Connection => {
  const fetch: Fetch = async () => {
    const { status, body } = await world.kernel.call(process, process.name, world.provider.poll(taskId));
    const bytes = async function* (): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from(body);
    };
    return { status, body: Object.assign(bytes(), { cancel: async () => undefined }) };
  };
  return {
    baseUrl: 'https://provider.example',
    fetch,
    totalTimeoutMs: settings.providerTimeoutMs,
    maxAnswerBytes: mostBytes,
  };
};

/** The dependencies of reconcile in one process for one caller, and its clock. */
export const reconcileDepsFor = (
  world: World,
  process: Process,
  caller: ReconcileCaller,
  now: () => Date,
): ReconcileDeps => {
  const { kernel, provider } = world;
  world.readers.push(process);
  // Only if the method needs it, because a cache of Task Tokens creates a random key, which is slow.
  const consents = world.scenario.method !== 'credentials';
  const sessions = sessionsFor(world, process);
  const taskTokens = consents ? taskTokensFor(world, process) : undefined;
  const unseal = unsealFor(world, process);
  const readFromProvider = (): void => world.state('providerRead', { by: process });
  const read = (taskId: string): Promise<ReadAnswer> => {
    readFromProvider();
    return kernel.call(process, process.name, provider.read(taskId));
  };
  const tables = tablesFor(world, process);
  const readInput = (extractionId: string) =>
    kernel.call(process, process.name, {
      name: 'read the input of the execution',
      kind: 'read',
      take: () => ({ sealed: world.executions.get(extractionId)?.input.sealed ?? '' }),
    });
  const readByConsent = async (
    { extractionId, variant }: ConsentExtraction,
    taskId: string,
    attempt: Attempt,
  ) => {
    const sealed = await findSealedTarget(extractionId, taskId, { tasks: tables.tasks, readInput });
    const { target } = await unseal<SealedTargetData>(sealed);
    if (taskTokens === undefined) throw new Error('no record by consent');
    const connection = pollsOf(world, process, taskId);
    return withSession(tokensFor(tokensOf(taskTokens, target), attempt), (token) =>
      attempt.make(() => {
        readFromProvider();
        return readExtraction(connection, token, { variant, taskId, parse: parseRead });
      }),
    );
  };
  const readByMethod: ReadTask = async (record, taskId, attempt) =>
    record.method === 'consent'
      ? readingOfExtraction(await readByConsent(record, taskId, attempt))
      : withSession(tokensFor(sessions, attempt), () =>
          attempt.make(() => readTaskWith(async () => taskReading(await read(taskId)))),
        );
  const counting = { ...tables, now, timings, telemetry: world.telemetry };
  const guarded = guardReads(countReads(readByMethod, caller, counting), {
    ...tables,
    breaker: breakerFor(world, process, 'reads'),
    now,
    telemetry: world.telemetry,
  });
  return {
    ...tables,
    read: (record, taskId, options) => {
      process.reads += 1;
      world.state('read', { by: process });
      return guarded(record, taskId, options);
    },
    storeResults: (extractionId, stored) =>
      kernel.call(process, process.name, {
        name: 'store results',
        kind: 'write',
        take: () => {
          const key = `${extractionId}/results.json`;
          return { bucket: 'results', key, bytes: stored.byteLength, sha256: '0'.repeat(64) };
        },
      }),
    now,
    timings,
    telemetry: world.telemetry,
  };
};
