import { expect, test } from 'vitest';
import { placeAt } from '#lib/extraction/start/asking.ts';
import { chooseNext } from '#lib/rate-limit/choose-next.ts';
import {
  endOf,
  type InLine,
  laneOf,
  type Place,
  parseSlot,
  prefixOf,
  slotOf,
} from '#lib/rate-limit/start-line.ts';

const caller = 'arn:aws:iam::111122223333:role/Caller';
const place = (id: string, fields: Partial<Place> = {}): Place => ({
  caller,
  priority: 'interactive',
  group: 'bank',
  at: '2026-03-01T12:00:00.000Z',
  extractionId: id,
  ...fields,
});

const waiting = (id: string, fields: Partial<Place> = {}): InLine => ({
  extractionId: id,
  requestId: `request-${id}`,
  slot: slotOf(place(id, fields)),
  callbackToken: `token-${id}`,
});

const many = (count: number, prefix: string, fields: Partial<Place> = {}): readonly InLine[] =>
  Array.from({ length: count }, (_, index) => waiting(`${prefix}-${100 + index}`, fields));

const namesOf = (entries: readonly InLine[]): readonly string[] =>
  entries.map(({ extractionId }) => extractionId);

const open = () => 'yes' as const;
const now = new Date('2026-03-01T12:00:02.000Z');

test('a slot keeps its place, whatever the group is called', () => {
  for (const group of ['bank', 'a#b', 'a%23b', 'ñ#%', '']) {
    const of = place('one', { group, priority: 'background' });
    expect(parseSlot(slotOf(of))).toEqual(of);
  }
  expect(parseSlot('calls/1')).toBeUndefined();
  expect(parseSlot(slotOf(place('one')).replace('interactive', 'urgent'))).toBeUndefined();
  expect(parseSlot(`${slotOf(place('one'))}#more`)).toBeUndefined();
});

test('the slots of a group come together, the oldest request first, and another lane after them', () => {
  const older = slotOf(place('older'));
  const newer = slotOf(place('newer', { at: '2026-03-01T12:00:01.000Z' }));
  const end = endOf(prefixOf(place('any')));
  const other = slotOf(place('other', { group: 'bank-2' }));
  expect([newer, older, end].toSorted()).toEqual([older, newer, end]);
  expect(other > end || other < prefixOf(place('any'))).toBe(true);
  expect(laneOf(place('any'))).not.toBe(laneOf(place('any', { priority: 'background' })));
  expect(laneOf(place('any'))).not.toBe(laneOf(place('any', { caller: `${caller}2` })));
});

test('callers go by turns, then the priorities of one, then his groups, each in the order of requests', () => {
  const line = [
    ...many(3, 'crowd'),
    ...many(2, 'crowd-elsewhere', { group: 'other bank' }),
    ...many(2, 'night', { priority: 'background' }),
    ...many(3, 'single', { caller: 'arn:aws:iam::111122223333:role/Another' }),
  ];
  const { starts, left, served } = chooseNext(line, 7, new Map(), open, now);
  expect(namesOf(starts)).toEqual([
    'crowd-100',
    'single-100',
    'night-100',
    'single-101',
    'crowd-elsewhere-100',
    'single-102',
    'night-101',
  ]);
  expect(left).toBe(3);
  // Who was served last is served last in the next tick, too.
  const rest = line.filter((one) => !starts.includes(one));
  const again = [...rest, ...many(1, 'new', { caller: 'arn:aws:iam::111122223333:role/New' })];
  expect(namesOf(chooseNext(again, 2, served, open, now).starts)).toEqual(['new-100', 'crowd-101']);
});

test('who may be tried again later is passed over until then, and holds nobody', () => {
  const line = [
    waiting('refused', { at: '2026-03-01T12:00:05.000Z', group: 'one' }),
    ...many(1, 'other', { group: 'two' }),
  ];
  const until = (seconds: string) =>
    namesOf(chooseNext(line, 5, new Map(), open, new Date(`2026-03-01T12:00:${seconds}Z`)).starts);
  expect(until('04.999')).toEqual(['other-100']);
  expect(until('05.000')).toEqual(['refused', 'other-100']);
});

test('what is refused comes to the front twice, and then after a pause that grows, or when the provider says', () => {
  const places = [0, 1, 2, 3, 4, 7, 100].map((refusals) => placeAt('requested', { refusals }, now));
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000).toISOString();
  expect(places).toEqual([...Array(3).fill('requested'), after(5), after(10), after(60), after(60)]);
  const asked = (refusals: number, seconds: number) =>
    placeAt('requested', { refusals, notBefore: after(seconds) }, now);
  expect([asked(1, 90), asked(3, 90), asked(3, 1), asked(1, 7_200)]).toEqual([
    after(90),
    after(90),
    after(5),
    after(3_600),
  ]);
});

test('a group that its breaker holds is passed over, and its turn needs no rate', () => {
  const line = [...many(2, 'held', { group: 'broken' }), ...many(2, 'free', { group: 'fine' })];
  const mayGo =
    (may: 'turn' | 'no') =>
    ({ group }: Place) =>
      group === 'broken' ? may : 'yes';
  const held = chooseNext(line, 5, new Map(), mayGo('no'), now);
  expect([namesOf(held.starts), held.turns, held.left]).toEqual([['free-100', 'free-101'], [], 0]);
  const turn = chooseNext(line, 0, new Map(), mayGo('turn'), now);
  expect([turn.starts, namesOf(turn.turns), turn.left]).toEqual([[], ['held-100'], 2]);
});
