import { type Extraction, ownOutcomes, terminalStatuses } from '#lib/extraction/record.ts';
import { lifeOf, settings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import type { Invariant } from './invariant.ts';

/**
 * The transition table of the design (section 3), as `from>to`. It is repeated here, because the simulation must not
 * derive from the code what is allowed.
 */
const provider = ['COMPLETED', 'PARTIAL', 'FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];

export const documentedTransitions: ReadonlySet<string> = new Set([
  'REQUESTED>STARTING',
  'STARTING>REQUESTED',
  'STARTING>RUNNING',
  'STARTING>REJECTED',
  'STARTING>UNCONFIRMED',
  'UNCONFIRMED>RUNNING',
  'REQUESTED>NOT_STARTED',
  'REQUESTED>REJECTED',
  'RUNNING>UNCONFIRMED',
  'RUNNING>TIMED_OUT',
  ...provider.flatMap((status) => [`RUNNING>${status}`, `TIMED_OUT>${status}`]),
]);

/** The final statuses of the provider. */
export const providerStatuses: ReadonlySet<string> = new Set(provider);

/** Statuses without an outcome. */
export const openStatuses: ReadonlySet<string> = new Set(['REQUESTED', 'STARTING', 'RUNNING']);

export const allowedTransitions: Invariant = {
  name: 'allowed-transitions',
  rule: 'A status changes only as the transition table allows, and a record starts as REQUESTED.',
  outlivesLoss: true,
  checks: {
    record: ({ before, after }, _world, premise) => {
      if (before?.status === after.status) return undefined;
      premise();
      if (before === undefined)
        return after.status === 'REQUESTED' ? undefined : `A record starts as ${after.status}.`;
      return documentedTransitions.has(`${before.status}>${after.status}`)
        ? undefined
        : `${before.status} became ${after.status}.`;
    },
  },
};

/** Outcomes that the transition table of the design has a way out of. */
const replaceable = new Set(['TIMED_OUT', 'UNCONFIRMED']);

export const outcomeStands: Invariant = {
  name: 'outcome-stands',
  rule: 'An outcome, with its time, source and reason, changes only by a correction of TIMED_OUT, or from UNCONFIRMED by the start attempt that has the taskId. With isFinal it never changes, and every outcome has it except TIMED_OUT and UNCONFIRMED.',
  checks: {
    record: ({ before, after, by }, _world, premise) => {
      const mustBeFinal = !openStatuses.has(after.status) && !replaceable.has(after.status);
      if (mustBeFinal && after.isFinal !== true) return `${after.status} lacks isFinal.`;
      if (before === undefined || openStatuses.has(before.status)) return undefined;
      premise();
      if (before.status !== after.status && before.isFinal !== true) {
        if (before.status === 'TIMED_OUT') return undefined;
        const isLateStart =
          before.status === 'UNCONFIRMED' &&
          after.attemptId === before.attemptId &&
          (by === undefined || by.attemptIds.includes(before.attemptId ?? ''));
        return isLateStart ? undefined : `${before.status} became ${after.status}.`;
      }
      const attributes = ['status', 'settledAt', 'settledBy', 'reason', 'taskId'] as const;
      const changed = attributes.filter((name) => before[name] !== after[name]);
      if (before.isFinal === true && after.isFinal !== true) return 'A final outcome is final no more.';
      return changed.length === 0 ? undefined : `Of ${before.status} changed: ${changed.join(', ')}.`;
    },
  },
};

/** Whether no read is made, as the process of the last one has ended. */
const isLastReadLost = (record: Extraction | undefined, { kernel, scenario }: World): boolean =>
  record?.lastReadBegunAt !== undefined &&
  kernel.now + scenario.skew * 1_000 - Date.parse(record.lastReadBegunAt) > lifeOf.reconcile * 1_000;

export const lastReadBeforeTimedOut: Invariant = {
  name: 'last-read-before-timed-out',
  rule: 'TIMED_OUT is written past the deadline, by a process that has tried to read the task, unless its answer is known to be over the size limit, or no read may be made: the process of the last one has ended, or the provider asked to wait when this one decided.',
  checks: {
    record: ({ before, after, by }, world, premise) => {
      if (after.status !== 'TIMED_OUT' || before?.status === 'TIMED_OUT') return undefined;
      premise();
      if (world.kernel.now + world.scenario.skew * 1_000 < Date.parse(after.deadlineAt))
        return 'TIMED_OUT before the deadline.';
      // By a clock that lags. The write may be slow: what the provider showed meanwhile is found in grace.
      const decidedAt = (by?.learnedAt ?? world.kernel.now) - world.scenario.lag * 1_000;
      const asksToWait = Date.parse(by?.lastSeen?.notBefore ?? '') > decidedAt;
      const mayNotRead = isLastReadLost(before, world) || asksToWait;
      const knows = by === undefined || by.reads > 0 || world.oversized.length > 0 || mayNotRead;
      return !knows ? `${by.name} has not tried to read.` : undefined;
    },
  },
};

export const statusIsTheProviders: Invariant = {
  name: 'status-is-the-providers',
  rule: 'A final status of the provider is that of the task that was started for this extraction, and is recorded only after the task ended.',
  checks: {
    record: ({ before, after }, world, premise) => {
      if (before?.taskId !== after.taskId) {
        premise();
        if (!world.provider.tasks.has(after.taskId ?? '')) return `${after.taskId} is not a task.`;
      }
      if (before?.status === after.status || !providerStatuses.has(after.status)) return undefined;
      premise();
      const task = world.provider.tasks.get(after.taskId ?? '');
      if (task === undefined || world.kernel.now < task.endsAt)
        return `${after.status} before the task ended.`;
      if (task.extractionId !== after.extractionId)
        return `${after.status}, but the task belongs to another extraction.`;
      return after.status === task.status || after.status === task.readAs
        ? undefined
        : `${after.status}, but the provider reported ${task.status}.`;
    },
  },
};

export const othersTaskDisowned: Invariant = {
  name: 'others-task-disowned',
  rule: 'An extraction that was given the task of another ends as UNCONFIRMED with that reason, and is counted. Nothing of the task is collected.',
  checks: {
    end: (_fact, world, premise) => {
      const { record } = world;
      const task = world.provider.tasks.get(record?.taskId ?? '');
      if (record === undefined || task === undefined || openStatuses.has(record.status)) return undefined;
      if (task.extractionId === record.extractionId) return undefined;
      premise();
      if (record.status !== 'UNCONFIRMED' || record.reason !== 'task-linked-elsewhere') {
        return `It ends as ${record.status}, ${record.reason}.`;
      }
      if (record.collectedAt !== undefined) return 'It collected the results of another extraction.';
      return world.counted.has('TaskLinkedElsewhere') ? undefined : 'It is not counted.';
    },
  },
};

/** In milliseconds. The answer to the last read in grace may be this old. */
const maxRead = lifeOf.reconcile * 1_000;

export const correctionFound: Invariant = {
  name: 'correction-found',
  rule: 'A TIMED_OUT is final only if the provider had not ended the task when grace ended, or did not know it any more, or no read returned the status: every read failed, the answer of a v2 task was over the size limit, or the item of a consent was lost.',
  needs:
    'The task ended before the last read in grace. The answer to that read may be as old as the timeout of the function.',
  checks: {
    end: (_fact, world, premise) => {
      const { record, scenario } = world;
      if (record?.status !== 'TIMED_OUT' || world.erasing.isAskedFor(record)) return undefined;
      premise();
      const task = world.provider.tasks.get(record.taskId ?? '');
      const graceEnd = Date.parse(record.settledAt ?? record.deadlineAt) + settings.graceSeconds * 1_000;
      const couldBeRead =
        task !== undefined &&
        task.endsAt < graceEnd - maxRead &&
        task.forgottenAt === Number.POSITIVE_INFINITY &&
        world.readsUndisturbed;
      const isReadable = scenario.task.tooLarge === undefined || scenario.method !== 'credentials';
      const isLost = world.lostRequests.has(record.requestId) && scenario.method !== 'credentials';
      return couldBeRead && scenario.outage === undefined && isReadable && !isLost
        ? `${task.status} could have been read in grace.`
        : undefined;
    },
  },
};

/** Closes that need no read. */
const withoutRead = ['erased', 'results-too-large', 'task-linked-elsewhere'];

export const closedAfterARead: Invariant = {
  name: 'closed-after-a-read',
  rule: 'A record whose task could be read is closed by a process that has tried to read it, however late it is.',
  needs:
    'The answer is not known to be over the size limit, the task is that of the extraction, and its last read did not end its process.',
  checks: {
    record: ({ before, after, by }, world, premise) => {
      if (before?.dueShard === undefined || after.dueShard !== undefined || by === undefined)
        return undefined;
      if (!providerStatuses.has(after.status) && after.status !== 'TIMED_OUT') return undefined;
      if (withoutRead.includes(after.collectionError ?? '')) return undefined;
      if (world.oversized.length > 0) return undefined;
      // Nobody waits for a correction of what is to be erased.
      if (after.status === 'TIMED_OUT' && world.erasing.isAskedFor(after)) return undefined;
      premise();
      return by.reads > 0 || isLastReadLost(before, world)
        ? undefined
        : `${by.name} closes ${after.status}, but has not tried to read.`;
    },
  },
};

const transitionsTo = (status: string, { transitions }: World): number =>
  transitions.filter((transition) => transition.endsWith(`>${status}`)).length;

/** Metrics, and how often they may be counted together. */
const happened: readonly {
  readonly counts: readonly string[];
  readonly times: (world: World) => number;
}[] = [
  {
    counts: ['SettledByWebhook', 'SettledByStart', 'SettledByReconcile'],
    times: ({ record }) => (providerStatuses.has(record?.status ?? '') ? 1 : 0),
  },
  { counts: ['Collected'], times: ({ record }) => (record?.collectedAt === undefined ? 0 : 1) },
  { counts: ['TimedOut'], times: (world) => transitionsTo('TIMED_OUT', world) },
  { counts: ['NotStarted'], times: (world) => transitionsTo('NOT_STARTED', world) },
  { counts: ['Rejected'], times: (world) => transitionsTo('REJECTED', world) },
  { counts: ['Unconfirmed'], times: (world) => transitionsTo('UNCONFIRMED', world) },
  { counts: ['SecondsToStart'], times: (world) => transitionsTo('RUNNING', world) },
  {
    counts: ['SecondsToOutcome'],
    times: (world) =>
      [...terminalStatuses, ...ownOutcomes].reduce((sum, status) => sum + transitionsTo(status, world), 0),
  },
  {
    counts: ['OutcomeFailed'],
    times: (world) =>
      ['PARTIAL', 'FAILED', ...ownOutcomes].reduce((sum, status) => sum + transitionsTo(status, world), 0),
  },
];

export const countedOnce: Invariant = {
  name: 'counted-once',
  rule: 'An outcome and a collection are counted at most as often as they occurred, even if several processes write them at the same time.',
  needs:
    'No two processes write the same with the same millisecond on their clocks, because nothing distinguishes such writes.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.scenario.clock === 'coarse' || world.mistaken.size > 0) return undefined;
      for (const { counts, times } of happened) {
        const counted = counts.reduce((sum, name) => sum + (world.counted.get(name) ?? 0), 0);
        if (counted > 0) premise();
        const did = times(world);
        if (counted > did)
          return `${counts.join(' and ')}: counted ${counted} times, but it happened ${did} times.`;
      }
      return undefined;
    },
  },
};
