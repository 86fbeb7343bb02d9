import type { DeadLetter, DeadLetters } from './aws/dead-letters.ts';
import { type Work, workOf } from './dead-letter.ts';

export type RedriveDeps = {
  readonly letters: DeadLetters;
  /** Does it, and throws where it fails again. */
  readonly invoke: (work: Work) => Promise<void>;
  readonly onDone: (letter: DeadLetter, work: Work) => void;
  readonly onFailed: (letter: DeadLetter, error: unknown) => void;
  readonly onUnknown: (letter: DeadLetter) => void;
};

export type RedriveResult = { readonly done: number; readonly failed: number; readonly unknown: number };

/**
 * Takes every message once, does again what failed, and deletes it only then. The same work is tried once, however
 * many messages ask for it: a sweep, above all, of which a day of failures leaves hundreds, and each may take minutes
 * to fail. What stays is made visible again at the end, not before, or it would be received again.
 */
export const redriveLetters = async ({ letters, invoke, ...told }: RedriveDeps): Promise<RedriveResult> => {
  const counts = { done: 0, failed: 0, unknown: 0 };
  const staying: DeadLetter[] = [];
  const tried = new Map<string, Promise<void>>();
  const tryOnce = (work: Work): Promise<void> => {
    const name = JSON.stringify(work);
    const before = tried.get(name) ?? invoke(work);
    tried.set(name, before);
    return before;
  };

  const take = async (letter: DeadLetter): Promise<void> => {
    const work = workOf(letter.body);
    if (work === undefined) {
      counts.unknown += 1;
      staying.push(letter);
      told.onUnknown(letter);
      return;
    }
    try {
      await tryOnce(work);
      await letters.remove(letter);
      counts.done += 1;
      told.onDone(letter, work);
    } catch (error) {
      counts.failed += 1;
      staying.push(letter);
      told.onFailed(letter, error);
    }
  };

  for (let some = await letters.receive(); some.length > 0; some = await letters.receive()) {
    for (const letter of some) await take(letter);
  }
  for (const letter of staying) await letters.release(letter);
  return counts;
};
