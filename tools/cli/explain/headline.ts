import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { clockTime } from './bounded-text.ts';
import { refusedMeanwhile } from './derived-facts.ts';
import { explainOutcome, goneBecause } from './explain-outcome.ts';
import type { Known } from './gather.ts';
import { waitsFor } from './waits.ts';

const isOutcome = ({ status }: Extraction): boolean =>
  status !== 'REQUESTED' && status !== 'STARTING' && status !== 'RUNNING';

const sweepTrouble = ({ sweep, extractionId, now, command }: Known, { dueAt }: Extraction) => {
  if (sweep === undefined || dueAt === undefined) return {};
  const due = clockTime(dueAt, now);
  const late = isOverdue({ dueAt }, now, sweep.everyMinutes);
  if (!sweep.enabled) {
    return dueAt <= now.toISOString()
      ? {
          before: `${late ? 'Overdue' : 'Due'} since ${due}, as the sweep is disabled. Enable its rule, or run \`${command('reconcile', extractionId)}\`.`,
        }
      : { after: 'The sweep is disabled: if nothing else ends it, it stays open.' };
  }
  return late
    ? { before: `Overdue since ${due}, although the sweep is enabled. \`${command('doctor')}\` shows why.` }
    : {};
};

const openHeadline = (known: Known, record: Extraction): string => {
  const { settings } = known;
  const waits =
    settings === undefined
      ? `It is ${record.status} and open. What happens next depends on the settings, which could not be read.`
      : waitsFor({ ...known, record, settings });
  const { before, after } = sweepTrouble(known, record);
  const outcome = isOutcome(record) ? explainOutcome({ ...known, record }) : undefined;
  return [before, outcome, waits, after].filter((sentence) => sentence !== undefined).join(' ');
};

export const headlineOf = (known: Known): string => {
  const { record, unread } = known;
  if (record === undefined) {
    return unread.has('record') ? 'The record could not be read.' : goneBecause(known);
  }
  const headline =
    record.dueShard === undefined ? explainOutcome({ ...known, record }) : openHeadline(known, record);
  return [headline, refusedMeanwhile(known)].filter((sentence) => sentence !== undefined).join(' ');
};
