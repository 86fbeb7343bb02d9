import { describe, expect, test } from 'vitest';
import {
  afterAccepted,
  afterFailure,
  afterNothing,
  type BreakerState,
  type Failure,
  mayStart,
  noTrouble,
  takeTurn,
} from '#lib/breaker/breaker-state.ts';

const settings = { failures: 5, openSeconds: 30, maxOpenSeconds: 300, turnSeconds: 100 };
/** Times in these tests are seconds from here on. */
const time = (seconds: number): number => Date.parse('2026-03-01') + seconds * 1_000;

const fail = (state: BreakerState, extraction: string, at: number, more: Partial<Failure> = {}) =>
  afterFailure(
    state,
    { kind: 'failed', extraction, name: 'bank', now: time(at), random: 0.5, ...more },
    settings,
  );
const accept = (state: BreakerState, at: number, name = 'bank') => afterAccepted(state, name, time(at));
const may = (state: BreakerState, at: number, name = 'bank') => mayStart(state, name, time(at));
const take = (state: BreakerState, at: number, name = 'bank', holder = `${name} at ${at}`) =>
  takeTurn(state, { holder, name, now: time(at) }, settings);
const showNothing = (state: BreakerState, at: number, name = 'bank', holder = `${name} at ${at}`) =>
  afterNothing(state, { holder, name, now: time(at) }, settings);
const failTurn = (state: BreakerState, at: number, more: Partial<Failure> = {}) => {
  const holder = `turn at ${at}`;
  return fail(take(state, at, more.name, holder), holder, at, { ...more, holder });
};

/** When a start of this group may be made next. Infinity: not within an hour. */
const nextAt = (state: BreakerState, from: number, name = 'bank'): number => {
  for (let at = from; at < from + 3_600; at += 0.5) if (may(state, at, name) !== 'no') return at;
  return Number.POSITIVE_INFINITY;
};

/** How long the group waits after each of so many failed turns, each taken as soon as it is free. */
const pausesOf = (opened: BreakerState, turns: number, name = 'bank', random = 0.5): readonly number[] => {
  const pauses: number[] = [];
  let state = opened;
  for (let at = nextAt(state, 0, name); pauses.length < turns; ) {
    state = failTurn(state, at, { name, random });
    const next = nextAt(state, at, name);
    pauses.push(next - at);
    at = next;
  }
  return pauses;
};

const failAll = (state: BreakerState, names: readonly string[], at: number, more: Partial<Failure> = {}) =>
  names.reduce((before, one) => fail(before, one, at, more), state);
const failGroups = (state: BreakerState, names: readonly string[], at: number, more: Partial<Failure> = {}) =>
  names.reduce((before, name) => fail(before, `of ${name}`, at, { ...more, name }), state);

const five = ['a', 'b', 'c', 'd', 'e'];
/** The breaker of `bank` opened at 0 s. */
const openBank = failAll(noTrouble, five, 0);
/** The breaker of a caller opened at 0 s, after starts of the banks a to e failed. */
const openCaller = failGroups(noTrouble, five, 0);

describe('the breaker of a group', () => {
  test('opens after five different extractions failed, and not after one failed five times', () => {
    expect(may(failAll(noTrouble, five.slice(1), 0), 0)).toBe('yes');
    expect(may(failAll(noTrouble, ['a', 'a', 'a', 'a', 'a'], 0), 0)).toBe('yes');
    expect([may(openBank, 0), may(openBank, 29), may(openBank, 30)]).toEqual(['no', 'no', 'turn']);
    expect(may(openBank, 0, 'another bank')).toBe('yes');
    expect(fail(noTrouble, 'a', 0)).toEqual({ groups: [{ name: 'bank', failed: [['a', time(0)]] }] });
  });

  test('counts no slow start if another was accepted within 3 s before, also by the process that counts it', () => {
    const accepted = accept(fail(noTrouble, 'x', 0), 1);
    const slowAt = (at: number, more?: Partial<Failure>) =>
      fail(accepted, 'y', at, { kind: 'slow', ...more });
    expect(slowAt(4)).toBe(accepted);
    expect(slowAt(5, { acceptedAt: time(2) })).toBe(accepted);
    expect(slowAt(5).groups[0]?.failed).toEqual([['y', time(2)]]);
    expect(fail(accepted, 'y', 4).groups[0]?.failed).toEqual([['y', time(4)]]);
  });

  test('has a turn every 30 s while one of its starts was accepted within ten minutes', () => {
    const accepted = accept(fail(noTrouble, 'x', 0), 0);
    const pauses = pausesOf(failAll(accepted, five, 1), 21);
    expect(pauses).toEqual([...Array(19).fill(30), 60, 120]);
    // The process that counts the failure saw the accepted start.
    const seen = failAll(noTrouble, five, 1, { acceptedAt: time(0) });
    expect(pausesOf(seen, 1)).toEqual([30]);
  });

  test('is not changed by the end of a turn that is another’s by now', () => {
    const second = take(take(openBank, 30, 'bank', 'first'), 130, 'bank', 'second');
    expect(fail(second, 'a', 131, { holder: 'first' })).toBe(second);
    expect(showNothing(second, 131, 'bank', 'first')).toBe(second);
  });

  test('is not prolonged by starts that were under way when it opened, and neither is that of the caller', () => {
    expect(fail(openBank, 'f', 20)).toBe(openBank);
    const late = fail(openCaller, 'x', 20, { name: 'late' });
    expect(['a', 'healthy'].map((name) => nextAt(late, 20, name))).toEqual([30, 20]);
  });

  test('keeps the turn of a start that is slow, until that has ended', () => {
    const taken = take(openBank, 30);
    const slow = fail(taken, 'f', 35, { kind: 'slow', holder: 'bank at 30' });
    expect([may(slow, 65), may(slow, 130)]).toEqual(['no', 'turn']);
    expect(nextAt(fail(slow, 'f', 40, { holder: 'bank at 30' }), 40)).toBe(100);
  });
});

describe('Retry-After', () => {
  test('of a start that was under way lengthens the pause, and never shortens it', () => {
    const prolonged = fail(openBank, 'f', 20, { retryAt: time(200) });
    expect(nextAt(prolonged, 20)).toBe(200);
    for (const seconds of [100, 200])
      expect(fail(prolonged, 'g', 20, { retryAt: time(seconds) })).toBe(prolonged);
    expect(nextAt(fail(openBank, 'f', 20, { retryAt: time(3_600) }), 20)).toBe(320);
  });
});

describe('the breaker of a caller', () => {
  test('gives turns to groups that did not fail after 5, 10, 20 and then every 30 s, each drawn ± 50 %', () => {
    const drawn = (random: number) => {
      let state = failGroups(noTrouble, five, 0, { random });
      let at = 0;
      // Another group each time, as one that failed has another turn.
      return ['f', 'g', 'h', 'i', 'j', 'k'].map((name) => {
        const next = nextAt(state, at, name);
        const pause = next - at;
        at = next;
        state = failTurn(state, at, { name, random });
        return pause;
      });
    };
    expect(drawn(0.5)).toEqual([5, 10, 20, 30, 30, 30]);
    expect(drawn(0)).toEqual([2.5, 5, 10, 15, 15, 15]);
    expect(drawn(1)).toEqual([7.5, 15, 30, 45, 45, 45]);
  });

  test('gives one turn in 30 s to all groups that failed, which take none of the others’', () => {
    expect(['a', 'b', 'healthy'].map((name) => nextAt(openCaller, 0, name))).toEqual([30, 30, 5]);
    const taken = take(openCaller, 30, 'a');
    expect(['b', 'healthy'].map((name) => may(taken, 30, name))).toEqual(['no', 'turn']);
    expect(nextAt(fail(taken, 'of a', 31, { name: 'a', holder: 'a at 30' }), 31, 'b')).toBe(61);
    const othersTaken = take(openCaller, 30, 'healthy');
    expect(['b', 'also healthy'].map((name) => may(othersTaken, 30, name))).toEqual(['turn', 'no']);
  });

  test('frees the turn after a start that showed nothing, and its group passes for 30 s', () => {
    const refused = showNothing(take(openCaller, 5, 'refused'), 6, 'refused', 'refused at 5');
    expect(may(refused, 6, 'healthy')).toBe('turn');
    expect([may(refused, 35, 'refused'), may(refused, 36, 'refused')]).toEqual(['no', 'turn']);
    expect(may(accept(refused, 7, 'healthy'), 7, 'refused')).toBe('yes');
  });

  test('lets the others go on while a start in their turn is slow, and keeps the turn of those that failed', () => {
    const healthy = fail(take(openCaller, 5, 'f'), 'x', 8, { kind: 'slow', name: 'f', holder: 'f at 5' });
    expect(nextAt(healthy, 8, 'healthy')).toBe(18);
    const failing = fail(take(openCaller, 30, 'a'), 'x', 35, { kind: 'slow', name: 'a', holder: 'a at 30' });
    expect(nextAt(failing, 35, 'b')).toBe(130);
  });

  test('lets a group whose own breaker is open wait for both turns, and gives it both', () => {
    const both = failGroups(openBank, five, 10);
    expect(nextAt(both, 10)).toBe(40);
    expect(nextAt(failAll(openCaller, five, 10), 10)).toBe(40);
    const taken = take(both, 40);
    expect(may(taken, 40, 'a')).toBe('no');
    const refused = showNothing(taken, 41, 'bank', 'bank at 40');
    expect([may(refused, 41, 'a'), may(refused, 70), may(refused, 71)]).toEqual(['turn', 'no', 'turn']);
    expect(may(accept(refused, 42, 'healthy'), 42)).toBe('turn');
  });
});

describe('what is kept', () => {
  test('is 50 groups: those that are not open are forgotten first, the oldest before the others', () => {
    const many = Array.from({ length: 60 }, (_, index) => `group ${index}`);
    const { groups } = failGroups(openBank, many, 1);
    expect(groups.map(({ name }) => name)).toEqual(['bank', ...many.slice(11)]);
  });

  test('is no count that is an hour old, but a breaker that is open', () => {
    const old = failAll(openBank, ['x'], 0, { name: 'old' });
    const namesAt = (at: number) => fail(old, 'y', at, { name: 'new' }).groups.map(({ name }) => name);
    expect(namesAt(3_599)).toEqual(['bank', 'old', 'new']);
    expect(namesAt(3_600)).toEqual(['bank', 'new']);
  });
});
