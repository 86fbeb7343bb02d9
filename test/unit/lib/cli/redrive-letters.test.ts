import { expect, test } from 'vitest';
import type { DeadLetter } from '../../../../lib/cli/aws/dead-letters.ts';
import { redriveLetters } from '../../../../lib/cli/redrive-letters.ts';

const extractionId = '0190a0b0-0000-7000-8000-000000000001';
const broken = JSON.stringify({ trigger: 'execution-broken', extractionId });
const sweep = JSON.stringify({ requestPayload: { trigger: 'sweep' } });

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

const redrive = async (queue: ReturnType<typeof queueOf>, invoke = async (_work: unknown) => {}) => {
  const invoked: unknown[] = [];
  const outcomes: string[] = [];
  const result = await redriveLetters({
    letters: queue.letters,
    invoke: async (work) => {
      invoked.push(work);
      await invoke(work);
    },
    onDone: ({ id }) => void outcomes.push(`${id} done`),
    onFailed: ({ id }) => void outcomes.push(`${id} failed`),
    onUnknown: ({ id }) => void outcomes.push(`${id} unknown`),
  });
  return { result, invoked, outcomes };
};

test('a message is deleted once its work is done, and messages with the same work share one try', async () => {
  const queue = queueOf(sweep, broken, sweep, sweep);
  const { result, invoked } = await redrive(queue);
  expect(result).toEqual({ done: 4, failed: 0, unknown: 0 });
  expect(invoked).toEqual([{ trigger: 'sweep' }, { trigger: 'operator', extractionId }]);
  expect(queue.kept()).toEqual([]);
});

test('a message that fails again or is unknown stays, and is visible again', async () => {
  const queue = queueOf('not ours', broken, sweep);
  const { result, outcomes } = await redrive(queue, async (work) => {
    if ((work as { trigger: string }).trigger === 'operator') throw new Error('down');
  });
  expect(result).toEqual({ done: 1, failed: 1, unknown: 1 });
  expect(outcomes).toEqual(['m0 unknown', 'm1 failed', 'm2 done']);
  expect(queue.kept()).toEqual(['m0', 'm1']);
  expect(queue.visible.map(({ id }) => id)).toEqual(['m0', 'm1']);
});

test('work that failed is not tried again for the next message', async () => {
  const queue = queueOf(sweep, sweep, sweep);
  const { result, invoked } = await redrive(queue, async () => {
    throw new Error('down');
  });
  expect(result).toEqual({ done: 0, failed: 3, unknown: 0 });
  expect(invoked).toEqual([{ trigger: 'sweep' }]);
  expect(queue.kept()).toEqual(['m0', 'm1', 'm2']);
});
