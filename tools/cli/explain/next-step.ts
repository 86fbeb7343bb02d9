import type { Explanation } from '../../../lib/extraction/causes.ts';
import { isLastReadLost, judge, plan } from '../../../lib/extraction/decide.ts';
import type { Plan } from '../../../lib/extraction/plan.ts';
import { type Extraction, hasTaskItem } from '../../../lib/extraction/record.ts';
import { holdOf } from '../terminal/describe-hold.ts';
import type { Known } from './gather.ts';
import type { Hold, StorySettings } from './sources.ts';

/** An open record, with all that its next step is decided from. */
export type Open = Known & { readonly record: Extraction; readonly settings: StorySettings };

/**
 * What the next reconcile does once the record is due, as `decide.ts` has it. It is planned as for a message of the slow queue, whose
 * reads have their whole time.
 */
const nextPlan = ({ record, task, extractionId, settings: { timings }, now }: Open): Plan => {
  const queue = { kind: 'queue', cause: 'due', isSlow: true } as const;
  const at = new Date(Math.max(now.getTime(), new Date(record.dueAt ?? now).getTime()));
  const planned = plan(record, queue, at, timings);
  if (planned.kind !== 'find-task') return planned;
  const isOwn = (task?.extractionId ?? extractionId) === extractionId;
  const { taskId } = planned;
  const found = { kind: 'task', taskId, taskStatus: task?.taskStatus, isOwn, isNew: false } as const;
  return judge(record, queue, found, at, timings);
};

/** The status that the next reconcile writes. Undefined if it writes none. */
export const nextStatus = (known: Open): string | undefined => {
  const planned = nextPlan(known);
  return planned.kind === 'write' ? planned.change.set.status : undefined;
};

/** Whether the item with the sealed target is lost, which each read by consent needs. Only a read that missed it shows it. */
const isTargetLost = ({ record, logs, hasAllLogs }: Open): boolean | undefined => {
  if (hasTaskItem(record)) return false;
  if (logs.some(({ fields }) => fields.explanation === ('request-data-gone' satisfies Explanation)))
    return true;
  return hasAllLogs ? false : undefined;
};

/** Whether the next reconcile reads the provider, and what keeps it from that. */
export type NextRead =
  | { readonly kind: 'made' | 'not known' }
  /** It needs no read. */
  | { readonly kind: 'none' }
  /** Until an operator resumes reads. */
  | { readonly kind: 'held'; readonly hold: Hold }
  /** The provider asked for no call before this time. */
  | { readonly kind: 'asked'; readonly notBefore: string }
  /** No more, as the sealed target is lost. */
  | { readonly kind: 'never' }
  /** The process of the last read ended. After `TIMED_OUT` there are other reads. */
  | { readonly kind: 'skipped' };

export const nextRead = (known: Open): NextRead => {
  const { record, holds, unread, now, settings } = known;
  const isLost = isTargetLost(known);
  if (isLost === true) return { kind: 'never' };
  const planned = nextPlan(known);
  const hold = holdOf(record, holds);
  // Until its time is over, the process of that read may still bring an answer.
  if (planned.kind === 'no-read' && hold === undefined)
    return { kind: isLastReadLost(record, now, settings.timings) ? 'skipped' : 'not known' };
  const isPostponed = planned.kind === 'write' && planned.keepsRequestUntil !== undefined;
  if (planned.kind === 'write' && !isPostponed) return { kind: 'none' };
  if (hold !== undefined) return { kind: 'held', hold };
  if (planned.kind === 'read' || planned.kind === 'last-read')
    return { kind: isLost === undefined || unread.has('holds') ? 'not known' : 'made' };
  const { notBefore = '' } = record;
  return notBefore > now.toISOString() ? { kind: 'asked', notBefore } : { kind: 'none' };
};
