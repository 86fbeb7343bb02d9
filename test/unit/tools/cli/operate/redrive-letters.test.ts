import { expect, test } from 'vitest';
import type { DeadLetter } from '../../../../../tools/cli/operate/dead-letters.ts';
import { redriveLetters } from '../../../../../tools/cli/operate/redrive-letters.ts';

const [one, other] = ['0190a0b0-0000-7000-8000-000000000001', '0190a0b0-0000-7000-8000-000000000002'];
const letter = (extractionId: string | undefined): string => JSON.stringify({ extractionId, cause: 'sweep' });

/** A queue that hides received messages until they are released, as SQS does. */
const queueOf = (...bodies: readonly string[]) => {
  const visible: DeadLetter[] = bodies.map((body, n) => ({ id: `m${n}`, body, receipt: `r${n}` }));
  const kept = new Map(visible.map((letter) => [letter.id, letter]));
  return {
    kept: () => [...kept.keys()],
    visible,
    letters: {
      receive: async () => visible.splice(0, 2),
      remove: async ({ id }: DeadLetter) => void kept.delete(id),
      release: async (letter: DeadLetter) => void visible.push(letter),
    },
  };
};

const redrive = async (queue: ReturnType<typeof queueOf>, reconcile = async (_id: string) => {}) => {
  const reconciled: string[] = [];
  const outcomes: string[] = [];
  const result = await redriveLetters({
    letters: queue.letters,
    reconcile: async (extractionId) => {
      reconciled.push(extractionId);
      await reconcile(extractionId);
    },
    onDone: ({ id }) => void outcomes.push(`${id} done`),
    onFailed: ({ id }) => void outcomes.push(`${id} failed`),
    onUnknown: ({ id }) => void outcomes.push(`${id} unknown`),
  });
  return { result, reconciled, outcomes };
};

test('a message is deleted once its extraction is reconciled, and those of one extraction share one try', async () => {
  const queue = queueOf(letter(one), letter(other), letter(one), letter(one));
  const { result, reconciled } = await redrive(queue);
  expect(result).toEqual({ done: 4, failed: 0, unknown: 0 });
  expect(reconciled).toEqual([one, other]);
  expect(queue.kept()).toEqual([]);
});

test('a message that fails again or is unknown stays, and is visible again', async () => {
  const queue = queueOf('not ours', letter(one), letter(other));
  const { result, outcomes } = await redrive(queue, async (extractionId) => {
    if (extractionId === one) throw new Error('down');
  });
  expect(result).toEqual({ done: 1, failed: 1, unknown: 1 });
  expect(outcomes).toEqual(['m0 unknown', 'm1 failed', 'm2 done']);
  expect(queue.kept()).toEqual(['m0', 'm1']);
  expect(queue.visible.map(({ id }) => id)).toEqual(['m0', 'm1']);
});

test('what failed is not tried again for the next message', async () => {
  const queue = queueOf(letter(one), letter(one), letter(one));
  const { result, reconciled } = await redrive(queue, async () => {
    throw new Error('down');
  });
  expect(result).toEqual({ done: 0, failed: 3, unknown: 0 });
  expect(reconciled).toEqual([one]);
  expect(queue.kept()).toEqual(['m0', 'm1', 'm2']);
});
