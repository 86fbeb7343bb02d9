import { expect, test } from 'vitest';
import { type PermitAnswer, type PermitStore, takePermit } from '#lib/rate-limit/permit.ts';
import { permitStoreOver } from '../../../support/stores/memory-breaker-store.ts';

test('starts go at the rate, and those of half a second at once', async () => {
  const store = permitStoreOver(new Map(), async (_call, effect) => effect());
  let known: number | undefined;
  let taken = 0;
  for (let ms = 0; ms < 10_000; ms += 10) {
    const answer = await takePermit(store, known, 5, 1_000_000 + ms);
    if (answer.kind === 'taken') taken += 1;
    if (answer.kind !== 'throttled') known = answer.next;
  }
  expect(taken).toBe(53);
});

/** The updates of one start, over an item that has `stored`. */
const updatesOf = async (stored: number | undefined, known: number | undefined, perSecond = 5) => {
  const items = new Map(stored === undefined ? [] : [['permit', { next: stored }]]);
  const over = permitStoreOver(items as never, async (_call, effect) => effect());
  const kinds: string[] = [];
  const store: PermitStore = {
    update: (update) => {
      kinds.push(update.kind);
      return over.update(update);
    },
  };
  return { answer: await takePermit(store, known, perSecond, 1_000_000), kinds };
};

const taken = (next: number): PermitAnswer => ({ kind: 'taken', next });
const refused = (next: number | undefined): PermitAnswer => ({ kind: 'refused', next });

test.each<readonly [string, number | undefined, number | undefined, PermitAnswer, readonly string[]]>([
  ['no item yet', undefined, undefined, taken(999_700), ['add', 'reset']],
  ['a permit, by a new process', 999_900, undefined, taken(1_000_100), ['add']],
  ['a permit at the edge of now', 1_000_000, 999_000, taken(1_000_200), ['add']],
  ['none, as others were faster', 1_000_001, 999_000, refused(1_000_001), ['add']],
  ['none, as this process knows already', 1_000_050, 1_000_001, refused(1_000_001), []],
  ['a pause that this process saw begin', 900_000, 900_000, taken(999_700), ['reset']],
  ['a pause that it did not', 900_000, 999_000, taken(999_700), ['add', 'reset']],
  ['others went on while this process paused', 999_900, 900_000, taken(1_000_100), ['reset', 'add']],
  ['a time that a clock wrote which is ahead', 1_120_000, 999_000, refused(1_120_000), ['add']],
])('a start finds %s', async (_, stored, known, answer, kinds) => {
  expect(await updatesOf(stored, known)).toEqual({ answer, kinds });
});

test('at a low rate, starts keep a little more than their distance', async () => {
  expect((await updatesOf(1_000_000, undefined, 0.05)).answer).toEqual(taken(1_020_300));
});
