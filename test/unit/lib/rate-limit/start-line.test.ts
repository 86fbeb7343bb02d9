import { expect, test } from 'vitest';
import { chooseNext } from '../../../../lib/rate-limit/choose-next.ts';
import {
  endOf,
  hasWaitedTooLong,
  type InLine,
  type LineEntry,
  laneOf,
  type Place,
  parseSlot,
  placeAt,
  prefixOf,
  slotOf,
  startWindowOf,
  waitedMs,
} from '../../../../lib/rate-limit/start-line.ts';

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

const open = () => [];
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

test('the start window does not count the time in line', () => {
  const entry = { extractionId: 'one', requestId: 'r', attempt: 0, slot: '', waitedMs: 2_000, expiresAt: 0 };
  const now = new Date('2026-03-01T12:00:10.000Z');
  expect(waitedMs(undefined, now)).toBe(0);
  expect(waitedMs(entry, now)).toBe(2_000);
  const waiting = { ...entry, waitingSince: '2026-03-01T12:00:03.000Z' };
  expect(waitedMs(waiting, now)).toBe(9_000);
  expect([9, 9.001].map((maxWait) => hasWaitedTooLong(waiting, now, maxWait))).toEqual([true, false]);
  const windowOf = (of: LineEntry) =>
    startWindowOf(of, '2026-03-01T12:00:00.000Z', { startWindow: 900, maxWait: 100 });
  expect([entry, waiting].map(windowOf)).toEqual([902, 101]);
  // The clock of who parked it was ahead.
  expect(waitedMs({ ...entry, waitingSince: '2026-03-01T12:00:13.000Z' }, now)).toBe(2_000);
});

test('lanes go by turns, and in a lane its groups, each in the order of requests', () => {
  const line = [
    ...many(5, 'crowd'),
    ...many(2, 'crowd-elsewhere', { group: 'other bank' }),
    ...many(1, 'single', { caller: 'arn:aws:iam::111122223333:role/Another' }),
    ...many(2, 'night', { priority: 'background' }),
  ];
  const { next, left, served } = chooseNext(line, 6, new Map(), open, now);
  expect(namesOf(next)).toEqual([
    'crowd-100',
    'single-100',
    'night-100',
    'crowd-elsewhere-100',
    'night-101',
    'crowd-101',
  ]);
  expect(left).toBe(4);
  // Who was served last is served last in the next tick, too.
  const rest = line.filter((one) => !next.includes(one));
  const again = [...rest, ...many(1, 'new', { caller: 'arn:aws:iam::111122223333:role/New' })];
  expect(namesOf(chooseNext(again, 2, served, open, now).next)).toEqual(['new-100', 'crowd-elsewhere-101']);
});

test('who may be tried again later is passed over until then, and holds nobody', () => {
  const line = [
    waiting('refused', { at: '2026-03-01T12:00:05.000Z', group: 'one' }),
    ...many(1, 'other', { group: 'two' }),
  ];
  const until = (seconds: string) =>
    namesOf(chooseNext(line, 5, new Map(), open, new Date(`2026-03-01T12:00:${seconds}Z`)).next);
  expect(until('04.999')).toEqual(['other-100']);
  expect(until('05.000')).toEqual(['refused', 'other-100']);
});

test('what is refused comes to the front twice, and then after a pause that grows, or when the provider says', () => {
  const places = [0, 1, 2, 3, 4, 7, 100].map((refusals) => placeAt('requested', { refusals }, now));
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000).toISOString();
  expect(places).toEqual([...Array(3).fill('requested'), after(5), after(10), after(60), after(60)]);
  expect(placeAt('requested', { refusals: 3, notBefore: after(90) }, now)).toBe(after(90));
  expect(placeAt('requested', { refusals: 3, notBefore: after(1) }, now)).toBe(after(5));
});

test('a group that its breaker holds is passed over, and its turn needs no rate', () => {
  const line = [...many(2, 'held', { group: 'broken' }), ...many(2, 'free', { group: 'fine' })];
  const gateOf = (kind: 'turn' | readonly []) => (entry: InLine) =>
    entry.extractionId.startsWith('held') ? (kind === 'turn' ? kind : [{ left: 0 }]) : [];
  const held = chooseNext(line, 5, new Map(), gateOf([]), now);
  expect([namesOf(held.next), held.turns, held.left]).toEqual([['free-100', 'free-101'], [], 0]);
  const turn = chooseNext(line, 0, new Map(), gateOf('turn'), now);
  expect([turn.next, namesOf(turn.turns), turn.left]).toEqual([[], ['held-100'], 2]);
});

test('groups that reopen together share what is released of them', () => {
  const shared = { left: 2 };
  const line = [...many(3, 'one', { group: 'one' }), ...many(3, 'two', { group: 'two' })];
  const { next, left } = chooseNext(line, 10, new Map(), () => [shared], now);
  expect([namesOf(next), left]).toEqual([['one-100', 'two-100'], 0]);
});
