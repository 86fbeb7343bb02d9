import { expect, test } from 'vitest';
import { type BreakerName, closedBreaker, phaseOf } from '../../../../../lib/breaker/breaker-state.ts';
import { readBreaker } from '../../../../../lib/breaker/breaker-store.ts';
import { breakerActions } from '../../../../../tools/cli/console/breaker-actions.ts';
import { at } from '../../../../support/extraction-fixtures.ts';
import { memoryBreakerStore } from '../../../../support/memory-breaker-store.ts';

const now = at(100).getTime();

test('an operator pauses the calls of one breaker with a reason, and resumes them, also after it opened', async () => {
  const store = memoryBreakerStore();
  const opened = { since: now - 1_000, until: now + 30_000, seconds: 30, groups: {} };
  store.rows.set('starts', { state: { ...closedBreaker, opened }, version: '1' });
  const actions = breakerActions(store, () => at(100));
  const run = (id: string, reason = '') => actions.find((action) => action.id === id)?.run('', reason);
  const stateOf = async (name: BreakerName) => (await readBreaker(store, name, at(100))).state;
  const phases = async () => [phaseOf(await stateOf('starts'), now), phaseOf(await stateOf('reads'), now)];

  await run('pause-starts', 'maintenance');
  expect(await phases()).toEqual(['paused', 'closed']);
  expect((await stateOf('starts')).paused).toEqual({ since: now, reason: 'maintenance' });
  await run('resume-starts');
  expect(await phases()).toEqual(['closed', 'closed']);
  await run('pause-reads', 'quota');
  expect(await phases()).toEqual(['closed', 'paused']);
});
