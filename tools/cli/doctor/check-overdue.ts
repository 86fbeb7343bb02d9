import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where a record is overdue. `due` are the records whose `dueAt` has passed. */
export const checkOverdue = (due: readonly Extraction[], everyMinutes: number, now: Date): Finding => {
  const [oldest] = due
    .flatMap(({ extractionId, dueAt }) =>
      dueAt === undefined ? [] : [{ extractionId, late: secondsSince(dueAt, now) }],
    )
    .toSorted((one, other) => other.late - one.late);
  const overdue = due.filter((record) => isOverdue(record, now, everyMinutes)).length;
  if (oldest === undefined) return passed('no open extraction is due');
  const since = `${oldest.extractionId}, for ${formatSeconds(oldest.late)}`;
  if (overdue === 0) return passed(`${due.length} due, and none overdue; the longest, ${since}`);
  return failed(
    `${overdue} overdue; the longest due, ${since}`,
    `\`cosecha reconcile ${oldest.extractionId}\` reconciles it now and reports what fails.`,
  );
};
