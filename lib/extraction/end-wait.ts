import type { LineEntry, StartLineStore } from '../rate-limit/start-line.ts';

export type EndWaitDeps = {
  readonly startLine: Pick<StartLineStore, 'find' | 'withdraw'>;
  /** Answers a callback token with success. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<unknown>;
};

/** The item changes when its execution begins to wait, and when the dispatcher releases it. */
const maxTries = 3;

/**
 * Ends the wait in line of an extraction that is not started any more. Its execution then finds the closed record, or none, and ends. The token is
 * answered before the item goes: if this process ends in between, the dispatcher answers it again, in its turn. Returns false if the item
 * changed again and again. Throws what the store or `wake` throws.
 */
export const endWait = async (
  { extractionId, requestId }: Pick<LineEntry, 'extractionId' | 'requestId'>,
  { startLine, wake }: EndWaitDeps,
): Promise<boolean> => {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const found = await startLine.find(extractionId);
    if (found?.requestId !== requestId) return true;
    if (found.callbackToken !== undefined) await wake(found.callbackToken, extractionId);
    if (await startLine.withdraw(found)) return true;
  }
  return false;
};
