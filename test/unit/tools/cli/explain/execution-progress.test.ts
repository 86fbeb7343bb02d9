import { expect, test } from 'vitest';
import { progressOf, tryingOf } from '../../../../../tools/cli/explain/execution-progress.ts';
import { iso } from '../../../../support/data/extraction-fixtures.ts';
import { event, failed, inReconcile, inStartTask, settings } from './story-fixtures.ts';

const again = (seconds: number) => event(seconds, 'TaskScheduled');

test.each([
  ['waits for the webhook', inStartTask(), { does: 'wait', tries: 1, nextAt: iso(601) }],
  [
    'failed twice to start',
    inStartTask(failed(2, 'ProviderBusy'), again(4), failed(5, 'ProviderUnreachable')),
    { does: 'start', tries: 2, error: 'ProviderUnreachable', nextAt: iso(9) },
  ],
  [
    'tries to start again',
    inStartTask(failed(2, 'ProviderBusy'), again(4)),
    { does: 'wait', tries: 2, error: 'ProviderBusy', nextAt: iso(604) },
  ],
  [
    'polls',
    inReconcile(failed(602, 'NotYet'), again(605), failed(606, 'NotYet')),
    { does: 'poll', tries: 2, nextAt: iso(616) },
  ],
  [
    'was redriven after its end',
    inStartTask(event(2, 'ExecutionFailed'), event(10, 'ExecutionRedriven'), failed(19, 'ProviderBusy')),
    { does: 'start', tries: 1, error: 'ProviderBusy', nextAt: iso(21) },
  ],
  ['has ended', inStartTask(event(3, 'ExecutionSucceeded')), undefined],
])('an execution that %s', (_, execution, trying) => {
  expect(tryingOf(progressOf(execution), settings)).toEqual(trying);
});
