import { expectedStartAt } from '../../../lib/extraction/api/expected-start.ts';
import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import { type Extraction, subjectFields } from '../../../lib/extraction/record.ts';
import type { Deployment } from '../aws/deployment.ts';
import {
  currentAdvice,
  type FindOptions,
  type Found,
  findExtractions,
  finderOf,
} from '../aws/find-extractions.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { type Breakers, breakersOf, readHolds } from '../aws/stores.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { describeHolds } from '../terminal/describe-hold.ts';
import { describeLine } from '../terminal/describe-rate.ts';
import { secondsSince } from '../terminal/format-seconds.ts';
import type { CommandContext } from './command-context.ts';
import { adviceSummary, csvLines, describeNext, openRows, outcomeRows, textFor } from './list-rows.ts';

type ListOptions = FindOptions & {
  readonly open?: true;
  readonly due?: true;
  readonly limit?: number;
  readonly csv?: true;
};

const nothingMatches = {
  open: 'No open extraction matches.',
  due: 'No due extraction matches.',
  known: 'No extraction matches.',
  'among the newest': 'None of the newest extractions matches.',
} as const;

export const describeNone = (which: Found['which'], isFiltered: boolean): string =>
  isFiltered
    ? nothingMatches[which]
    : `No extraction is ${which}. Those that ended are listed by --advice, --status, --reference or --batch, and in the console.`;

/**
 * Lists open extractions, or those that are due: those that are due for longest come first. Or those that are asked for by a name, an outcome
 * or an advice: the last come first, with what to do about them.
 */
export const list = async (
  { open, due, limit, csv, ...asked }: ListOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const now = shell.now();
  await hintHeldCalls(breakersOf(deployment), shell);
  const finder = finderOf(deployment, () => now);
  const only = due === true ? 'due' : open === true ? 'open' : undefined;
  shell.wait('reading the records');
  const { records: found, which, remark } = await findExtractions(asked, finder, only);
  shell.wait(undefined);
  const records = found.slice(0, limit);
  if (records.length > 0)
    await printRecords(records, csv === true ? 'csv' : which, now, { shell, deployment });
  if (records.length === 0) {
    const isFiltered = Object.values(asked).some((value) => value !== undefined);
    shell.hint(`${describeNone(which, isFiltered)} ${remark}`);
    return 0;
  }
  if (which !== 'open' && which !== 'due') shell.hint(adviceSummary(records));
  const left = found.length - records.length;
  const listed = left === 0 ? `${found.length} listed` : `${records.length} of ${found.length} listed`;
  const dueCount = found.filter(({ dueAt = '9' }) => dueAt < now.toISOString()).length;
  const overdue = found.filter((record) => isOverdue(record, now, deployment.sweepEveryMinutes())).length;
  shell.hint(`${listed}, ${dueCount} due, ${overdue} overdue. ${remark}`);
  return 0;
};

const printRecords = async (
  records: readonly Extraction[],
  form: Found['which'] | 'csv',
  now: Date,
  { shell, deployment }: { readonly shell: Shell; readonly deployment: Deployment },
): Promise<void> => {
  const sweepEveryMinutes = deployment.sweepEveryMinutes();
  const line = records.some(({ status }) => status === 'REQUESTED')
    ? await readStartRate(deployment, now)
    : undefined;
  const waits = line === undefined ? [] : describeLine(line, now);
  if (waits.length > 0) shell.hint(waits);
  const startAt = ({ extractionId, status }: Extraction): string | undefined =>
    line === undefined || status !== 'REQUESTED' ? undefined : expectedStartAt(line, extractionId, now);
  const nextOf = (record: Extraction): string => describeNext(record, { now, sweepEveryMinutes, startAt });
  const [heading = '', ...lines] =
    form === 'csv'
      ? csvLines(records)
      : form === 'open' || form === 'due'
        ? openRows(records, now, nextOf)
        : outcomeRows(records, nextOf);
  if (form !== 'csv') shell.hint(heading);
  for (const [index, record] of records.entries()) {
    const line = lines[index] ?? '';
    shell.print(form === 'csv' && index === 0 ? [heading, line].flat() : line, {
      ...listedFields(record),
      expectedStartAt: startAt(record),
      dueSeconds: Math.max(0, Math.round(secondsSince(record.dueAt ?? now.toISOString(), now))),
      isOverdue: isOverdue(record, now, sweepEveryMinutes),
    });
  }
};

const listedFields = (record: Extraction) => {
  const { extractionId, status, reason, taskId, reference, batch, requestedBy, requestedAt, dueAt } = record;
  const { settledAt, settledBy, collectedAt, collectionError, lastProblem, actionResults } = record;
  return {
    extractionId,
    status,
    reason,
    ...subjectFields(record),
    ...(record.method === 'consent' ? { consentId: record.consentId } : {}),
    taskId,
    reference,
    batch,
    requestedBy,
    requestedAt,
    dueAt,
    lastProblem,
    actionResults,
    advice: currentAdvice(record),
    texts: textFor(record),
    settledAt,
    settledBy,
    collectedAt,
    collectionError,
  };
};

/** Prints which calls to the provider are held, as that is why extractions wait. */
export const hintHeldCalls = async (breakers: Pick<Breakers, 'list'>, shell: Shell): Promise<void> => {
  const lines = describeHolds(await readHolds(breakers, shell.now()), shell.now());
  if (lines.length > 0) shell.hint(lines.map((line) => `${line}.`));
};
