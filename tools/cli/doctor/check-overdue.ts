import type { Extraction } from '../../../lib/extraction/record.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where an open extraction is overdue by more than three intervals of the sweep. */
export const checkOverdue = (due: readonly Extraction[], everyMinutes: number, now: Date): Finding => {
  const [oldest] = due
    .flatMap(({ extractionId, dueAt }) =>
      dueAt === undefined ? [] : [{ extractionId, late: secondsSince(dueAt, now) }],
    )
    .toSorted((one, other) => other.late - one.late);
  if (oldest === undefined || oldest.late <= 0) return passed('no open extraction is overdue');
  const mostOverdue = `the most overdue, ${oldest.extractionId}, by ${formatSeconds(oldest.late)}`;
  if (oldest.late <= 3 * everyMinutes * 60)
    return passed(`${due.length} due for the next sweep; ${mostOverdue}`);
  return failed(
    `${due.length} overdue; ${mostOverdue}`,
    `\`cosecha reconcile ${oldest.extractionId}\` reconciles it now and reports what fails.`,
  );
};
