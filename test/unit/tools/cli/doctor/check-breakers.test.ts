import { expect, test } from 'vitest';
import { type BreakerState, closedBreaker, pause } from '../../../../../lib/breaker/breaker-state.ts';
import { checkBreakers } from '../../../../../tools/cli/doctor/check-breakers.ts';
import { at } from '../../../../support/extraction-fixtures.ts';

const check = (starts: BreakerState, reads: BreakerState = closedBreaker) =>
  checkBreakers({ read: async (name) => ({ state: name === 'starts' ? starts : reads }) }, at(100));

const opened = { since: at(40).getTime(), until: at(130).getTime(), seconds: 60, groups: {} };

test('it passes while no calls are held', async () => {
  expect(await check({ count: 1, failing: ['a'] })).toEqual({
    result: 'passed',
    message: 'neither starts nor reads are held',
  });
});

test.each([
  [
    { ...closedBreaker, opened },
    'starts are held since 1 min, as calls to the provider fail; next probe in 30 s',
  ],
  [
    { ...closedBreaker, opened: { ...opened, until: at(99).getTime() } },
    'starts are held since 1 min, as calls to the provider fail; next probe now',
  ],
  [
    pause({ ...closedBreaker, opened }, 'maintenance', at(10).getTime()),
    'starts are paused since 1 min 30 s: maintenance',
  ],
])('it fails with the reason: %j', async (starts, message) => {
  expect(await check(starts)).toMatchObject({ result: 'failed', message });
});

test('it names both breakers if both hold calls', async () => {
  const held = { ...closedBreaker, opened };
  expect(
    (await check(held, held)).message.split('; ').filter((part) => /^(starts|reads) are/.test(part)),
  ).toHaveLength(2);
});
