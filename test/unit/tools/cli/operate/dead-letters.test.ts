import { expect, test } from 'vitest';
import { parseDelivery } from '#lib/webhook/receive-delivery.ts';
import { signingKeyOf, verifySignature } from '#lib/webhook/verify-signature.ts';
import { allStatuses, extractionIn, idOf } from '#support/data/extraction-fixtures.ts';
import { type DeadLetter, parseDeadLetter, redriveLetters } from '#tools/cli/operate/dead-letters.ts';
import { predictDelivery, signDelivery } from '#tools/cli/operate/sign-delivery.ts';

const [one, other] = [idOf(1), idOf(2)];

/** Step Functions' documented example, shortened. */
const brokenEvent = {
  version: '0',
  id: '315c1398-40ff-a850-213b-158f73e60175',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: { name: one, status: 'TIMED_OUT', input: '{"sealed":"x"}' },
};

test.each([
  ['a message of the queue', { extractionId: one, cause: 'webhook' }, one],
  ['an event that the rule did not deliver', brokenEvent, one],
  ['a message without an id', { extractionId: 'no-uuid', cause: 'webhook' }, undefined],
  ['an event of another source', { ...brokenEvent, source: 'my.own' }, undefined],
])('the extraction of %s', (_, body, extractionId) => {
  expect(parseDeadLetter(JSON.stringify(body))).toBe(extractionId);
});

test('a delivery would settle what is RUNNING or TIMED_OUT, and without an extraction it is an orphan', () => {
  const settled = allStatuses.filter((status) => predictDelivery(extractionIn(status)).kind === 'settles');
  expect(settled).toEqual(['RUNNING', 'TIMED_OUT']);
  expect(predictDelivery(undefined)).toEqual({ kind: 'orphan' });
});

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

/** Redrives them. The extraction `one` fails again. */
const redrive = async (queue: ReturnType<typeof queueOf>, remove: readonly string[] = []) => {
  const reconciled: string[] = [];
  const outcomes: string[] = [];
  const result = await redriveLetters({
    letters: queue.letters,
    reconcile: async (extractionId) => {
      reconciled.push(extractionId);
      if (extractionId === one) throw new Error('down');
    },
    remove,
    onLetter: ({ id }, { outcome }) => void outcomes.push(`${id} ${outcome}`),
  });
  return { result, reconciled, outcomes };
};

test('a message that fails again or is unknown stays visible, and one that failed is not tried again', async () => {
  const queue = queueOf('not ours', letter(one), letter(other), letter(one));
  const { result, reconciled, outcomes } = await redrive(queue);
  expect(result).toEqual({ done: 1, failed: 2, unknown: 1, removed: 0 });
  expect(reconciled).toEqual([one, other]);
  expect(outcomes).toEqual(['m0 unknown', 'm1 failed', 'm2 done', 'm3 failed']);
  expect(queue.kept()).toEqual(['m0', 'm1', 'm3']);
  expect(queue.visible.map(({ id }) => id)).toEqual(['m0', 'm1', 'm3']);
});

test('a message that Cosecha did not write is deleted if it is named, and no other one ever is', async () => {
  const queue = queueOf('not ours', 'of somebody else', letter(one));
  const { result } = await redrive(queue, ['m0', 'm2']);
  expect(result).toEqual({ done: 0, failed: 1, unknown: 1, removed: 1 });
  expect(queue.kept()).toEqual(['m1', 'm2']);
});

const payload = { taskId: 'task-1', taskStatus: 'PARTIAL' };

test.each([false, true])('the webhook accepts a test delivery (encrypted: %s)', (encrypted) => {
  const { body, signature } = signDelivery(payload, 'key', { encrypted });
  expect(body.includes('task-1')).toBe(!encrypted);
  expect(verifySignature(signature, Buffer.from(body), [signingKeyOf('key')])).toMatchObject({
    verified: true,
  });
  expect(parseDelivery(Buffer.from(body), 'key')).toEqual({ kind: 'terminal', ...payload });
});
