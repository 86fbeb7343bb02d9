import { expect, test } from 'vitest';
import { checkOverdue } from '../../../../../tools/cli/doctor/check-overdue.ts';
import { at, extractionIn, id, iso } from '../../../../support/extraction-fixtures.ts';

const dueFor = (seconds: number) => extractionIn('RUNNING', { dueAt: iso(10_000 - seconds) });
const check = (...seconds: readonly number[]) => checkOverdue(seconds.map(dueFor), 5, at(10_000));

test('extractions that are due for less than three intervals of the sweep pass', () => {
  expect(check()).toEqual({ result: 'passed', message: 'no open extraction is due' });
  expect(check(900)).toEqual({
    result: 'passed',
    message: `1 due, and none overdue; the longest, ${id}, for 15 min`,
  });
});

test('an extraction that is due for longer fails, and is named', () => {
  expect(check(100, 901)).toEqual({
    result: 'failed',
    message: `1 overdue; the longest due, ${id}, for 15 min 1 s`,
    remedy: `\`cosecha reconcile ${id}\` reconciles it now and reports what fails.`,
  });
});
