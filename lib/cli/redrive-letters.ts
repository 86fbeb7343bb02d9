import type { DeadLetter, DeadLetters } from './aws/dead-letters.ts';
import { parseDeadLetter, type Work } from './parse-dead-letter.ts';

export type RedriveDeps = {
  readonly letters: DeadLetters;
  /** Does the work. Throws where it fails again. */
  readonly invoke: (work: Work) => Promise<void>;
  readonly onDone: (letter: DeadLetter, work: Work) => void;
  readonly onFailed: (letter: DeadLetter, error: unknown) => void;
  readonly onUnknown: (letter: DeadLetter) => void;
};

export type RedriveResult = { readonly done: number; readonly failed: number; readonly unknown: number };

/**
 * Receives every message once, repeats its work, and deletes it on success. Messages with the same work share one try:
 * a day of failures makes hundreds of sweeps, and each can take minutes to fail. Messages that stay are made visible
 * again at the end, as they would otherwise be received again.
 */
export const redriveLetters = async ({
  letters,
  invoke,
  onDone,
  onFailed,
  onUnknown,
}: RedriveDeps): Promise<RedriveResult> => {
  const counts = { done: 0, failed: 0, unknown: 0 };
  const staying: DeadLetter[] = [];
  const tries = new Map<string, Promise<void>>();
  const invokeOnce = (work: Work): Promise<void> => {
    const key = JSON.stringify(work);
    const result = tries.get(key) ?? invoke(work);
    tries.set(key, result);
    return result;
  };

  const redrive = async (letter: DeadLetter): Promise<void> => {
    const work = parseDeadLetter(letter.body);
    if (work === undefined) {
      counts.unknown += 1;
      staying.push(letter);
      onUnknown(letter);
      return;
    }
    try {
      await invokeOnce(work);
      await letters.remove(letter);
      counts.done += 1;
      onDone(letter, work);
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
