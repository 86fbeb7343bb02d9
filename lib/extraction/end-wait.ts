import type { LineEntry, StartLineStore } from '../rate-limit/start-line.ts';

export type EndWaitDeps = {
  readonly startLine: Pick<StartLineStore, 'find' | 'withdraw'>;
  /** Answers a callback token with success. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<unknown>;
};

/** The item of the line changed too often. The invoker repeats what it did, or the dispatcher releases the start. */
export class WaitContended extends Error {
  override readonly name = 'WaitContended';
}

/** The item may change between read and write: when its execution begins to wait, and when the dispatcher releases it. */
const maxTries = 3;

/**
 * Ends the wait in line of an extraction that will not be started. Its execution then finds a closed record, or none, and ends. The token
 * is answered before the item is removed. So if this process ends in between, the dispatcher answers the token later. Throws WaitContended if
 * the item changed too often, and what the store or `wake` throws.
 */
export const endWait = async (
  { extractionId, requestId }: Pick<LineEntry, 'extractionId' | 'requestId'>,
  { startLine, wake }: EndWaitDeps,
): Promise<void> => {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const found = await startLine.find(extractionId);
    if (found?.requestId !== requestId) return;
    if (found.callbackToken !== undefined) await wake(found.callbackToken, extractionId);
    if (await startLine.withdraw(found)) return;
  }
  throw new WaitContended(`The place in line of ${extractionId} changed again and again.`);
};
