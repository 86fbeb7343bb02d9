import type { Known } from './gather.ts';

/** Undefined: not known, as no source that could be read shows it. No sentence may rest on such a fact. */
type Fact = boolean | undefined;

/** Whether a delivery was stored. Its item in `Tasks` shows it, and expires after 30 days. */
export const webhookCame = ({ task }: Known): Fact =>
  task === undefined ? undefined : task.notifiedAt !== undefined;

/** Deliveries that were refused while it ran. Nothing of them is read before it is verified, so one of them may be of its task. */
export const refusedMeanwhile = ({ refusedDeliveries: count }: Known): string | undefined =>
  count === 0
    ? undefined
    : `${count} ${count === 1 ? 'delivery was' : 'deliveries were'} refused in this time, as no key fits: of which task is not known.`;

/** Why the last read before `TIMED_OUT` brought no final status, as the log of the process that recorded it has it. */
export const whyTimedOut = ({ record, logs }: Known): string | undefined => {
  const explanation = logs
    .filter(({ at, fields }) => fields.status === 'TIMED_OUT' && at >= (record?.settledAt ?? ''))
    .map(({ fields }) => fields.explanation)
    .find((text) => typeof text === 'string');
  return record?.collectionError ?? (typeof explanation === 'string' ? explanation : undefined);
};
