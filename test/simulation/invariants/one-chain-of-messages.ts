import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';
import type { Invariant } from './invariant.ts';

const wasDue = ({ firstSeen }: Process, { kernel, scenario }: World): boolean =>
  firstSeen?.dueAt === undefined || Date.parse(firstSeen.dueAt) <= kernel.now + scenario.skew * 1_000;

export const oneChainOfMessages: Invariant = {
  name: 'one-chain-of-messages',
  rule: 'However often messages are repeated, the provider is read once for each time that dueAt was set: a message whose dueAt has moved reads nothing, and only the process that set dueAt, or consumes its message, sends one for it. A repetition costs one read more at most.',
  needs:
    'No two processes write TIMED_OUT within one millisecond, because nothing distinguishes such writes.',
  checks: {
    sent: ({ message, by }, world, premise) => {
      if (world.scenario.clock === 'coarse') return undefined;
      if (message.cause !== 'due' || by === undefined || by.name.startsWith('start-task')) return undefined;
      premise();
      return world.setDueAt.has(by) || message.dueAt === by.dueAt
        ? undefined
        : `${by.name} sends the next message, but has not set dueAt.`;
    },
    read: ({ by }, world, premise) => {
      if (by.cause !== 'due') return undefined;
      premise();
      return wasDue(by, world) ? undefined : `${by.name} reads, but the record was due later.`;
    },
    end: (_fact, { readers, queue, dueAtWrites, scenario }, premise) => {
      if (scenario.clock === 'coarse') return undefined;
      const reads = readers.filter((by) => by.cause === 'due' && by.reads > 0).length;
      if (reads > 0) premise();
      const most = dueAtWrites + queue.repetitions;
      return reads <= most ? undefined : `${reads} messages caused reads, of ${most} that may.`;
    },
  },
};
