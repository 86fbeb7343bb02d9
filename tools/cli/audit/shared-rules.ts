import type { Checked, Facts, MarkFacts } from './audit-types.ts';
import { age, checkEach, day, slack, timeOf } from './check-each.ts';

/** What is wrong with a mark, which may refuse credentials for 28 days at most. TTL removes it some days later. */
const wrongMark = (facts: Facts, { extractionId, expiresAt, isRefused }: MarkFacts): string | undefined => {
  const left = -age(facts, timeOf(expiresAt));
  if (left > 28 * day + slack || left < -7 * day)
    return `A mark of its credentials ends at ${timeOf(expiresAt)}.`;
  const taskId = facts.records.get(extractionId)?.taskId;
  const task = facts.tasks.get(taskId ?? '');
  // The mark is of the first status, whatever was delivered or recorded after it.
  const shows = task?.extractionId === extractionId ? task.firstStatus : 'CREDENTIALS_WRONG';
  if (isRefused !== true || shows === 'CREDENTIALS_WRONG') return undefined;
  return `Its credentials are marked as refused, and its task first was ${shows ?? 'without an end'}.`;
};

export const checkMarks = (facts: Facts): Checked => checkEach(facts.marks, (mark) => wrongMark(facts, mark));

/** In milliseconds of the epoch. A pause has an hour at most. */
const timesIn = (value: unknown): readonly number[] => {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(timesIn);
  return typeof value === 'number' && value > Date.parse('2000-01-01') ? [value] : [];
};

/** The rate and the breakers. What an operator has set by hand may last for longer. */
export const checkShared = (facts: Facts): Checked => {
  const items = [...facts.shared].filter(([name]) => /^(rate$|permit$|arn:)/.test(name));
  const { checked, findings } = checkEach(
    items.map(([name, item]) => ({ extractionId: name, last: Math.max(0, ...timesIn(item)) })),
    ({ extractionId: name, last }) =>
      -age(facts, timeOf(last / 1_000)) > 7_200
        ? `The item ${name} holds starts until ${timeOf(last / 1_000)}.`
        : undefined,
  );
  return { checked, findings: findings.map(({ what }) => ({ extractionId: '', what })) };
};
