import type { Reading } from '../../../lib/extraction/reading.ts';
import { readingOfExtraction } from '../../../lib/extraction/reading-of-extraction.ts';
import { readingOfTask } from '../../../lib/extraction/reading-of-task.ts';
import type { ReconcileDeps } from '../../../lib/extraction/reconcile.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { SealedTarget } from '../../../lib/extraction/sealed-plaintext.ts';
import type { ExtractionAnswer } from '../../../lib/provider/read-extraction.ts';
import type { TaskReading } from '../../../lib/provider/read-task.ts';
import { withSession } from '../../../lib/provider/with-session.ts';
import { withTaskToken } from '../../../lib/provider/with-task-token.ts';
import type { Process } from '../world/process.ts';
import type { ReadAnswer } from '../world/provider.ts';
import { timings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { tablesFor } from './tables.ts';
import { sessionsFor, taskTokensFor } from './tokens.ts';
import { unsealFor } from './unseal.ts';

const bytes = new TextEncoder().encode('secret-results');

const taskReading = (answer: ReadAnswer): TaskReading => {
  if (answer.kind === 'running') return { taskStatus: answer.word, results: null, bytes };
  const without = answer.status === 'CREDENTIALS_WRONG' || answer.status === 'CREDENTIALS_LOCKED';
  // A sentence about the user in place of a code.
  const error = answer.status === 'FAILED' ? { error: { code: 'secret-user is not known' } } : {};
  const results = without ? null : { actions: [{ id: 'product-balance', status: answer.status, ...error }] };
  return { taskStatus: answer.status, results, bytes };
};

const extractionAnswer = (answer: ReadAnswer, variant: 'v1' | 'v2'): ExtractionAnswer => {
  if (answer.kind === 'running') return { kind: 'in-progress' };
  if (answer.status === 'FAILED') return { kind: 'failed', errorType: 'ENTITY' };
  return { kind: 'answered', data: [], bytes, ...(variant === 'v1' ? { taskStatus: 'success' } : {}) };
};

/** What reconcile needs, as one process has it. */
export const reconcileDepsFor = (world: World, process: Process): ReconcileDeps => {
  const { kernel, provider } = world;
  world.readers.push(process);
  // Each by its own method alone: to make a cache of Task Tokens takes a random key, and that is slow.
  const consents = world.scenario.method !== 'credentials';
  const sessions = sessionsFor(world, process);
  const taskTokens = consents ? taskTokensFor(world, process) : undefined;
  const unseal = unsealFor(world, process);
  const read = (taskId: string): Promise<ReadAnswer> =>
    kernel.call(process, process.name, provider.read(taskId));
  const readByConsent = async (extractionId: string, variant: 'v1' | 'v2', taskId: string) => {
    const sealed = await kernel.call(process, process.name, {
      name: 'read the input of the execution',
      kind: 'read',
      take: () => world.executions.get(extractionId)?.input.sealedCredentials ?? '',
    });
    const { target } = await unseal<SealedTarget>(sealed);
    if (taskTokens === undefined) throw new Error('no record by consent');
    return withTaskToken(taskTokens, target, async () => extractionAnswer(await read(taskId), variant));
  };
  return {
    ...tablesFor(world, process),
    read: async (record: Extraction, taskId: string): Promise<Reading> => {
      process.triedToRead += 1;
      return record.method === 'consent'
        ? readingOfExtraction(await readByConsent(record.extractionId, record.variant, taskId))
        : readingOfTask(taskReading(await withSession(sessions, () => read(taskId))));
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
    now: world.laterNow,
    timings,
    observe: world.observe,
    onFailure: () => undefined,
  };
};
