import { expect, test } from 'vitest';
import type { DeadLetter } from '../../../../lib/cli/aws/dead-letters.ts';
import { redriveLetters } from '../../../../lib/cli/redrive-letters.ts';

const extractionId = '0190a0b0-0000-7000-8000-000000000001';
const broken = JSON.stringify({ trigger: 'execution-broken', extractionId });
const sweep = JSON.stringify({ requestPayload: { trigger: 'sweep' } });

/** A queue that hides what it has handed out until that is released, as SQS does. */
const queueOf = (...bodies: readonly string[]) => {
  const visible: DeadLetter[] = bodies.map((body, n) => ({ id: `m${n}`, body, receipt: `r${n}` }));
  const left = new Map(visible.map((letter) => [letter.id, letter]));
  return {
    left: () => [...left.keys()],
    visible,
    letters: {
      receive: async () => visible.splice(0, 2),
      remove: async ({ id }: DeadLetter) => void left.delete(id),
      release: async (letter: DeadLetter) => void visible.push(letter),
    },
  };
};

const redrive = async (queue: ReturnType<typeof queueOf>, invoke = async (_work: unknown) => {}) => {
  const invoked: unknown[] = [];
  const told: string[] = [];
  const redriven = await redriveLetters({
    letters: queue.letters,
    invoke: async (work) => {
      invoked.push(work);
      await invoke(work);
    },
    onDone: ({ id }) => void told.push(`${id} done`),
    onFailed: ({ id }) => void told.push(`${id} failed`),
    onUnknown: ({ id }) => void told.push(`${id} unknown`),
  });
  return { redriven, invoked, told };
};

test('a message is deleted once its work is done, and the same work is done once', async () => {
  const queue = queueOf(sweep, broken, sweep, sweep);
  const { redriven, invoked } = await redrive(queue);
  expect(redriven).toEqual({ done: 4, failed: 0, unknown: 0 });
  expect(invoked).toEqual([{ trigger: 'sweep' }, { trigger: 'operator', extractionId }]);
  expect(queue.left()).toEqual([]);
});

test('what fails again and what is unknown stays, and is visible again', async () => {
  const queue = queueOf('what is this', broken, sweep);
  const { redriven, told } = await redrive(queue, async (work) => {
    if ((work as { trigger: string }).trigger === 'operator') throw new Error('down');
  });
  expect(redriven).toEqual({ done: 1, failed: 1, unknown: 1 });
  expect(told).toEqual(['m0 unknown', 'm1 failed', 'm2 done']);
  expect(queue.left()).toEqual(['m0', 'm1']);
  expect(queue.visible.map(({ id }) => id)).toEqual(['m0', 'm1']);
});

test('work that failed is not tried again for the next message that asks for it', async () => {
  const queue = queueOf(sweep, sweep, sweep);
  const { redriven, invoked } = await redrive(queue, async () => {
    throw new Error('down');
  });
  expect(redriven).toEqual({ done: 0, failed: 3, unknown: 0 });
  expect(invoked).toEqual([{ trigger: 'sweep' }]);
  expect(queue.left()).toEqual(['m0', 'm1', 'm2']);
});
