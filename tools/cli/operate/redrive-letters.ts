import type { DeadLetter, DeadLetters } from './dead-letters.ts';
import { parseDeadLetter } from './parse-dead-letter.ts';

export type RedriveDeps = {
  readonly letters: DeadLetters;
  /**
   * Reconciles an extraction as an operator: its execution may have been redriven since, and its start may still run. Throws
   * where it fails again.
   */
  readonly reconcile: (extractionId: string) => Promise<void>;
  readonly onDone: (letter: DeadLetter, extractionId: string) => void;
  readonly onFailed: (letter: DeadLetter, error: unknown) => void;
  readonly onUnknown: (letter: DeadLetter) => void;
};

export type RedriveResult = { readonly done: number; readonly failed: number; readonly unknown: number };

/**
 * Receives every message once, reconciles its extraction, and deletes it on success. Messages of one extraction share one
 * try: a day of failures makes hundreds of them, and each can take minutes to fail. Messages that stay are made visible
 * again at the end, as they would otherwise be received again.
 */
export const redriveLetters = async ({
  letters,
  reconcile,
  onDone,
  onFailed,
  onUnknown,
}: RedriveDeps): Promise<RedriveResult> => {
  const counts = { done: 0, failed: 0, unknown: 0 };
  const staying: DeadLetter[] = [];
  const tries = new Map<string, Promise<void>>();
  const reconcileOnce = (extractionId: string): Promise<void> => {
    const result = tries.get(extractionId) ?? reconcile(extractionId);
    tries.set(extractionId, result);
    return result;
  };

  const redrive = async (letter: DeadLetter): Promise<void> => {
    const extractionId = parseDeadLetter(letter.body);
    if (extractionId === undefined) {
      counts.unknown += 1;
      staying.push(letter);
      onUnknown(letter);
      return;
    }
    try {
      await reconcileOnce(extractionId);
      await letters.remove(letter);
      counts.done += 1;
      onDone(letter, extractionId);
    } catch (error) {
      counts.failed += 1;
      staying.push(letter);
      onFailed(letter, error);
    }
  };

  for (let batch = await letters.receive(); batch.length > 0; batch = await letters.receive()) {
    for (const letter of batch) await redrive(letter);
  }
  for (const letter of staying) await letters.release(letter);
  return counts;
};
