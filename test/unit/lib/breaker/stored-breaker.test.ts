import { expect, test, vi } from 'vitest';
import type { BreakerState } from '#lib/breaker/breaker-state.ts';
import { formatBreakerState, parseBreakerState } from '#lib/breaker/stored-breaker.ts';
import { operatorSettingsOf, pausesItem } from '#lib/shared-item/operator-settings.ts';
import { fail } from '../../../support/aws/stub-client.ts';
import { clock } from '../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';

const pause = { since: 1, reason: 'maintenance' };

/** What a process sees of a stored state: whether starts and reads are paused. */
const pausedBy = (state: unknown, onRead: () => void = () => undefined) => {
  const time = clock();
  const store = memoryBreakerStore({ before: onRead });
  if (state !== undefined) store.items.set(pausesItem, { state, version: '1' });
  const { counted, telemetry } = memoryTelemetry();
  const { isPaused, ratePerSecond } = operatorSettingsOf({ store, now: time.now, telemetry });
  const both = async () => [await isPaused('starts'), await isPaused('reads')];
  return { store, time, counted, both, ratePerSecond };
};

test('the pauses are read once in 5 s, for starts and reads together', async () => {
  const onRead = vi.fn();
  const { store, both, time } = pausedBy({ starts: pause }, onRead);
  await both();
  store.items.delete(pausesItem);
  time.set(4.9);
  expect([await both(), onRead.mock.calls.length]).toEqual([[true, false], 1]);
  time.set(5);
  expect([await both(), onRead.mock.calls.length]).toEqual([[false, false], 2]);
});

test.each([
  ['of another form', { starts: { since: 'x', reason: 'maintenance' }, reads: pause }, [false, true]],
  ['without its reason', { starts: pause, reads: { since: 1 } }, [true, false]],
])('a pause %s holds nothing, and is counted', async (_, state, paused) => {
  const { both, counted } = pausedBy(state);
  expect(await both()).toEqual(paused);
  expect(counted).toEqual(['BreakerUnavailable']);
});

test.each([
  [0.5, 0.5, []],
  [0, undefined, ['BreakerUnavailable']],
])('a rate by hand of %d starts a second is %s', async (perSecond, rate, metrics) => {
  const { ratePerSecond, counted } = pausedBy({ rate: { ...pause, perSecond } });
  expect(await ratePerSecond()).toBe(rate);
  expect(counted).toEqual(metrics);
});

test('if the pauses cannot be read, nothing is held, and they are not read again for 5 s', async () => {
  const { both, counted } = pausedBy({ starts: pause, reads: pause }, () => fail(new Error('down')));
  expect([await both(), counted]).toEqual([[false, false], ['BreakerUnavailable']]);
});

test('the breakers of a caller are read as they were stored, with their groups in the same order', () => {
  const state: BreakerState = {
    acceptedAt: 5,
    groups: [
      { name: 'calm', failed: [], acceptedAt: 5 },
      { name: 'failing', failed: [['extraction-1', 4]], acceptedAt: 3 },
      { name: 'calm-too', failed: [], acceptedAt: 2 },
      { name: 'passing', failed: [], acceptedAt: 1, passesUntil: 9 },
      { name: 'open', failed: [], acceptedAt: 1, opened: { since: 1, pause: 30, turn: { at: 9 } } },
      { name: 'never-accepted', failed: [['extraction-2', 4]] },
    ],
    opened: { since: 2, failing: { at: 4 }, others: { at: 3 }, taken: 1, cause: 'http-503' },
  };
  const stored = formatBreakerState(state);
  expect(parseBreakerState(stored, 10)).toEqual({ state, isDamaged: false });
  const failing = ['failing', 3, ['extraction-1', 4]];
  const neverAccepted = ['never-accepted', null, ['extraction-2', 4]];
  expect(stored).toMatchObject({ groups: [['calm', 5], failing, ['calm-too', 2], {}, {}, neverAccepted] });
});
