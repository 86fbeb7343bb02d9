import { longestDelaySeconds } from '../../../lib/extraction/reconcile-message.ts';
import type { Invariant } from './invariant.ts';

export const dueMessageContinued: Invariant = {
  name: 'due-message-continued',
  rule: 'A message for the current dueAt is not dropped: if its consumer neither fails, nor closes the record, nor moves dueAt, it sends the message again.',
  checks: {
    sent: ({ message, by }) =>
      message.cause !== 'due' || by === undefined || message.dueAt === by.lastSeen?.dueAt
        ? undefined
        : `${by.name} sends a message for another time than the dueAt that it saw last.`,
    consumed: ({ by }, { record, queue, kernel }, premise) => {
      if (by.cause !== 'due' || by.dueAt === undefined || by.firstSeen?.dueAt !== by.dueAt) return undefined;
      premise();
      const isUnchanged = record?.dueShard !== undefined && record.dueAt === by.dueAt;
      if (!isUnchanged || by.failedCalls > 0 || queue.hasMessageOf(by)) return undefined;
      return Date.parse(by.dueAt) - kernel.now > longestDelaySeconds * 1_000
        ? undefined
        : `${by.name} has dropped the message for the current dueAt.`;
    },
  },
};
