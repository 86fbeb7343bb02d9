import type { Extraction } from '../../extraction/record.ts';
import { formatSeconds, secondsSince } from '../format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Whether the sweep keeps up: nothing is overdue by more than three of its intervals. */
export const checkOverdue = (due: readonly Extraction[], everyMinutes: number, now: Date): Finding => {
  const [oldest] = due
    .flatMap(({ extractionId, dueAt }) =>
      dueAt === undefined ? [] : [{ extractionId, late: secondsSince(dueAt, now) }],
    )
    .toSorted((one, other) => other.late - one.late);
  if (oldest === undefined || oldest.late <= 0) return passed('nothing that is open is overdue');
  const said = `the most overdue, ${oldest.extractionId}, by ${formatSeconds(oldest.late)}`;
  if (oldest.late <= 3 * everyMinutes * 60) return passed(`${due.length} due for the next sweep; ${said}`);
  return failed(
    `${due.length} overdue; ${said}`,
    `\`cosecha reconcile ${oldest.extractionId}\` looks at it now and says what is in the way.`,
  );
};
