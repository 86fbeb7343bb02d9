import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { Story } from '../../../../../tools/cli/explain/story.ts';
import { lastProblem, type Waiting, whatToDo } from '../../../../../tools/cli/explain/what-to-do.ts';
import {
  allStatuses,
  closedExtraction,
  extractionIn,
  id,
} from '../../../../support/data/extraction-fixtures.ts';

const onTime = { isOverdue: false };

test.each<readonly [string, Extraction, Waiting, string]>([
  ['an open one', extractionIn('RUNNING'), onTime, 'Nothing. It goes on by itself.'],
  ['an overdue one', extractionIn('RUNNING'), { isOverdue: true }, `cosecha reconcile ${id}`],
  ['one that a pause holds', extractionIn('REQUESTED'), { ...onTime, hold: 'paused' }, 'cosecha resume'],
  ['one that a breaker holds', extractionIn('REQUESTED'), { ...onTime, hold: 'held' }, 'goes on once'],
  ['an unconfirmed one', closedExtraction({ status: 'UNCONFIRMED' }), onTime, 'Ask the provider whether'],
])('%s', (_, record, waiting, expected) => {
  expect(whatToDo(record, waiting)).toContain(expected);
});

test('there is advice for every status', () => {
  for (const status of allStatuses) {
    expect(whatToDo(closedExtraction({ status }), onTime)).toMatch(/^[A-Z].*\.$/);
  }
});

test('the last problem is the reason of the record, or else the last failure of the story', () => {
  const story: Story = {
    ...{ extractionId: id, status: 'RUNNING', headline: '', notShown: [] },
    lines: (['failed', 'refused', 'ok'] as const).map((verdict) => ({
      ...{ at: '', lane: 'api' as const, who: '', what: verdict, verdict },
    })),
  };
  expect(lastProblem(extractionIn('RUNNING'), story)).toBe('refused');
  expect(lastProblem(closedExtraction({ status: 'REJECTED', reason: 'http-400' }), story)).toBe('http-400');
  expect(lastProblem(extractionIn('RUNNING'), undefined)).toBeUndefined();
});
