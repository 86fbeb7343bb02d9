import { hasTaskItem } from '../../../lib/extraction/record.ts';
import { holdOf } from '../terminal/describe-hold.ts';
import type { Known } from './gather.ts';
import type { Hold } from './sources.ts';

/** Undefined: not known, as no source that could be read shows it. No sentence may rest on such a fact. */
type Fact = boolean | undefined;

/** Whether a delivery was stored. Its item in `Tasks` shows it, and expires after 30 days. */
export const webhookCame = ({ task }: Known): Fact =>
  task === undefined ? undefined : task.notifiedAt !== undefined;

const whyOf = ({ fields }: Known['logs'][number]): unknown => fields.explanation;

/** Whether the item with the sealed target is lost, which each read by consent needs. Only a read that missed it shows it. */
const isTargetLost = (known: Known): Fact => {
  const { record, logs, hasAllLogs } = known;
  if (record === undefined || hasTaskItem(record)) return false;
  if (logs.some((line) => whyOf(line) === 'request-data-gone')) return true;
  return hasAllLogs ? false : undefined;
};

/** Whether the next reconcile reads the provider, and what keeps it from that. */
type NextRead =
  | { readonly kind: 'made' | 'not known' }
  /** Until an operator resumes reads. */
  | { readonly kind: 'held'; readonly hold: Hold }
  /** No more, as the sealed target is lost. */
  | { readonly kind: 'never' };

export const nextRead = (known: Known): NextRead => {
  const { record, holds, unread } = known;
  const isLost = isTargetLost(known);
  if (isLost === true) return { kind: 'never' };
  const hold = record === undefined ? undefined : holdOf(record, holds);
  if (hold !== undefined) return { kind: 'held', hold };
  return { kind: isLost === undefined || unread.has('holds') ? 'not known' : 'made' };
};

/** Why the last read before `TIMED_OUT` brought no final status, as the log of the process that recorded it has it. */
export const whyTimedOut = ({ record, logs }: Known): string | undefined => {
  const explanation = logs
    .filter(({ at, fields }) => fields.status === 'TIMED_OUT' && at >= (record?.settledAt ?? ''))
    .map(whyOf)
    .find((text) => typeof text === 'string');
  return record?.collectionError ?? (typeof explanation === 'string' ? explanation : undefined);
};
