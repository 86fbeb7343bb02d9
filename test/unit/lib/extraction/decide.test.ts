import { expect, test } from 'vitest';
import { judge, plan } from '#lib/extraction/decide.ts';
import type { Invoker, Observation } from '#lib/extraction/plan.ts';
import { at, extractionIn, timings } from '../../../support/data/extraction-fixtures.ts';

const swept: Invoker = { kind: 'queue', cause: 'sweep' };
const start: Invoker = { kind: 'start', requestId: 'request-1' };
const another = { taskId: 'task-2' } as const;
const ended = {
  kind: 'ended',
  taskStatus: 'COMPLETED',
  reason: undefined,
  actionResults: undefined,
} as const;
const reading = { ...ended, expected: true, results: 'all' } as const;
const task = { ...another, kind: 'task', taskStatus: 'COMPLETED', isOwn: true, isNew: false } as const;

// `test/enumeration` makes all other decisions.
test.each<readonly [string, Invoker, Observation]>([
  ['a read of another task', swept, { ...another, kind: 'read', reading }],
  ['the status of another task', swept, task],
  ['the link of another task', start, { ...task, isOwn: false }],
])('%s decides nothing: what follows is what the record shows', (_what, invoker, observed) => {
  for (const status of ['RUNNING', 'TIMED_OUT'] as const) {
    const record = extractionIn(status);
    const now = at(100);
    expect(judge(record, invoker, observed, now, timings)).toEqual(plan(record, invoker, now, timings));
  }
});

test('the answer to the call of another attempt decides nothing', () => {
  const record = extractionIn('STARTING');
  for (const result of [
    { kind: 'accepted', taskId: 'task-1' },
    { kind: 'refused', reason: 'http-400' },
    { kind: 'unknown', reason: 'timeout' },
  ] as const) {
    const observed = { kind: 'called', attemptId: 'attempt-2', result } as const;
    expect(judge(record, start, observed, at(2), timings)).toEqual(plan(record, start, at(2), timings));
  }
});

test('an execution that outlived its record starts no later record under the same id', () => {
  const earlier: Invoker = { kind: 'start', requestId: 'request-0' };
  const planned = plan(extractionIn('REQUESTED'), earlier, at(2), timings);
  expect(planned).toMatchObject({ kind: 'end', conclusion: 'gone' });
});
