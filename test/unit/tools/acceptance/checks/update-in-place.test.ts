import { expect, test } from 'vitest';
import { type Cases, updateInPlace } from '../../../../../tools/acceptance/checks/update-in-place.ts';

type One = { readonly extractionId: string; readonly goOn?: () => Promise<unknown> };

/** Updates a stack with one extraction in this state, which ends with this record. Returns the steps. */
const update = async (
  cases: Cases<One>,
  ended: Parameters<typeof updateInPlace>[0]['closed'],
  isEmulated = false,
) => {
  const steps: string[] = [];
  await updateInPlace<One>({
    ...{ cases, isEmulated, closed: ended, waitFor: (what) => steps.push(what), sleep: async () => {} },
    briefCases: {
      'starting, with a slow call': async () => {
        steps.push('slow call');
        return { extractionId: 'brief', goOn: async () => steps.push('goes on') };
      },
    },
    request: async () => ({ extractionId: 'meanwhile' }),
    update: async (beforeUpdate) => {
      await beforeUpdate();
      steps.push('update');
    },
  });
  return steps;
};

const bring = async () => ({ extractionId: 'e-1' });
const completed = {
  status: 'COMPLETED',
  collectedAt: '2026-05-04T10:20:30.000Z',
  settledBy: 'webhook',
} as const;

test('brief states come just before the update, and all go on after it', async () => {
  const steps = await update({ 'waiting for the webhook': bring }, async () => completed);
  expect(steps).toEqual([
    'extractions to be in their states',
    'the update, under requests',
    ...['slow call', 'update', 'all extractions to end', 'goes on'],
  ]);
});

test('an extraction that ends otherwise than its state demands fails the update', async () => {
  await expect(update({ 'polled by the machine': bring }, async () => completed)).rejects.toThrow(
    'e-1 (polled by the machine) ended as COMPLETED, by webhook.',
  );
});

test('only an emulator may interrupt a start, also one that was requested meanwhile', async () => {
  const ended = async () => ({ status: 'UNCONFIRMED', settledBy: 'start' }) as const;
  await update({}, ended, true);
  await expect(update({}, ended)).rejects.toThrow(
    'brief (starting, with a slow call) ended as UNCONFIRMED, by start.\nmeanwhile (requested meanwhile)',
  );
});
