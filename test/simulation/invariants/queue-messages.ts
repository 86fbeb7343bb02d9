import { maxDelaySeconds } from '#lib/extraction/deadlines.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';
import type { Invariant } from './invariant.ts';

export const queuedBeforeWoken: Invariant = {
  name: 'queued-before-woken',
  rule: 'A process that ends the machine has put a message into the queue before, unless it has seen the record closed.',
  checks: {
    wake: ({ by }, world, premise) => {
      if (by.lastSeen?.dueShard === undefined) return undefined;
      premise();
      return world.queue.hasMessageOf(by)
        ? undefined
        : `${by.name} ends the machine, but the queue has no message for the open record.`;
    },
  },
};

export const leasedBeforeSent: Invariant = {
  name: 'leased-before-sent',
  rule: 'A sweep sends a message only after it has moved the dueAt of its record ahead, and only one of two sweeps does so.',
  checks: {
    sweepSends: ({ by }, world, premise) => {
      premise();
      const leases = world.leases.filter((lease) => lease.by === by);
      if (leases.length === 0) return `${by.name} sends a record that it has not leased.`;
      if (leases.some(({ moved }) => !moved)) return `${by.name} did not move dueAt.`;
      const latest = world.kernel.now + world.scenario.skew * 1_000;
      return leases.every(({ seen }) => Date.parse(seen) <= latest)
        ? undefined
        : `${by.name} leased a record that was not due.`;
    },
  },
};

const wasDue = ({ firstSeen }: Process, { kernel, scenario }: World): boolean =>
  firstSeen?.dueAt === undefined || Date.parse(firstSeen.dueAt) <= kernel.now + scenario.skew * 1_000;

/** The messages that are for one `dueAt`: all of these causes, and all that moved to the slow queue. */
const isForOneTime = ({ cause, isSlow }: Process): boolean =>
  cause === 'due' || cause === 'sweep' || isSlow === true;

/** A message `due` reads once its time has come. Any other may read before it, if it is for the `dueAt` of the record. */
const isStillFor = ({ cause, firstSeen, dueAt }: Process): boolean =>
  cause !== 'due' && firstSeen?.dueAt === dueAt;

export const oneChainOfMessages: Invariant = {
  name: 'one-chain-of-messages',
  rule: 'However often messages are repeated, the provider is read once for each time that dueAt was set: a message whose dueAt has moved reads nothing, and only the process that set dueAt, or consumes its message, sends one for it. A repetition costs one read more at most, and so does a process that takes the TIMED_OUT of another for its own, as both have the same millisecond on their clocks.',
  needs: 'No two writes of dueAt within one millisecond, as it is then the same and was not set.',
  checks: {
    sent: ({ message, by }, world, premise) => {
      if (world.scenario.clock === 'coarse') return undefined;
      if (message.cause !== 'due' || by === undefined || by.name.startsWith('start-task')) return undefined;
      premise();
      return world.setDueAt.has(by) || message.dueAt === by.dueAt || world.mistaken.has(by)
        ? undefined
        : `${by.name} sends the next message, but has not set dueAt.`;
    },
    read: ({ by }, world, premise) => {
      if (!isForOneTime(by)) return undefined;
      premise();
      return wasDue(by, world) || isStillFor(by)
        ? undefined
        : `${by.name} reads, but the record was due later.`;
    },
    end: (_fact, { readers, queue, dueAtWrites, mistaken, scenario }, premise) => {
      if (scenario.clock === 'coarse') return undefined;
      const reads = readers.filter((by) => isForOneTime(by) && by.reads > 0).length;
      if (reads > 0) premise();
      const most = dueAtWrites + queue.repetitions + mistaken.size;
      return reads <= most ? undefined : `${reads} messages caused reads, of ${most} that may.`;
    },
  },
};

export const dueMessageContinued: Invariant = {
  name: 'due-message-continued',
  rule: 'A message for the current dueAt is not dropped: if its consumer neither fails, nor closes the record, nor moves dueAt, it sends the message again.',
  checks: {
    sent: ({ message, by, isSlow }) =>
      message.cause !== 'due' ||
      by === undefined ||
      message.dueAt === by.lastSeen?.dueAt ||
      (isSlow && message.dueAt === by.dueAt)
        ? undefined
        : `${by.name} sends a message for another time than the dueAt that it saw last.`,
    consumed: ({ by }, { record, queue, kernel }, premise) => {
      if (by.cause !== 'due' || by.dueAt === undefined || by.firstSeen?.dueAt !== by.dueAt) return undefined;
      premise();
      const isUnchanged = record?.dueShard !== undefined && record.dueAt === by.dueAt;
      if (!isUnchanged || by.failedCalls > 0 || queue.hasMessageOf(by)) return undefined;
      return Date.parse(by.dueAt) - kernel.now > maxDelaySeconds * 1_000
        ? undefined
        : `${by.name} has dropped the message for the current dueAt.`;
    },
  },
};
