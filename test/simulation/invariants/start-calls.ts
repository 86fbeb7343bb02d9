import type { Extraction } from '#lib/extraction/record.ts';
import { hasFailedThrice } from '../world/process.ts';
import { settings } from '../world/settings.ts';
import type { Invariant } from './invariant.ts';

export const oneStartCall: Invariant = {
  name: 'one-start-call',
  rule: 'After a start call that the provider accepted, or may have accepted, no other start call is made.',
  needs: 'A 401, a 429, a refused connection and a 4xx other than 408 mean that the call was not accepted.',
  outlivesLoss: true,
  checks: {
    startCall: (_fact, { provider }, premise) => {
      if (provider.startCalls.length > 0) premise();
      return provider.startCalls.some(({ notAccepted }) => !notAccepted)
        ? 'A start call is made after one that may have been accepted.'
        : undefined;
    },
    end: (_fact, world, premise) => {
      const perhaps = world.provider.startCalls.filter(({ notAccepted }) => !notAccepted).length;
      if (perhaps > 0) premise();
      return perhaps > 1 ? `The provider may have accepted ${perhaps} start calls.` : undefined;
    },
  },
};

export const requestOfItsRecord: Invariant = {
  name: 'request-of-its-record',
  rule: 'The start call of a record has the request that was sealed for that record, and never that of an earlier record under the same id.',
  outlivesLoss: true,
  checks: {
    startCall: ({ by, requestId }, world, premise) => {
      const { record } = world;
      const isClaimed = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      if (!isClaimed) return undefined;
      premise();
      return world.isOfLostRecord(requestId)
        ? 'A record is started with the request of an earlier record.'
        : undefined;
    },
  },
};

export const startingWrittenBeforeCall: Invariant = {
  name: 'starting-written-before-call',
  rule: 'When a start call is made, the record is STARTING by that attempt, and the last answer of the table to the attempt confirms it.',
  needs:
    'Clocks differ by less than the time from the start of a function to its STARTING write. Otherwise the start may have been settled as stale.',
  checks: {
    startCall: ({ by }, { record, scenario }, premise) => {
      premise();
      const { lastSeen } = by;
      if (lastSeen?.status !== 'STARTING' || !by.attemptIds.includes(lastSeen.attemptId ?? '')) {
        return `${by.name} makes a start call, but last read ${lastSeen?.status} by ${lastSeen?.attemptId}.`;
      }
      const isOwnAttempt = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      const settledAsStale = scenario.skew > 0 && record?.status === 'UNCONFIRMED';
      return isOwnAttempt && (record.status === 'STARTING' || settledAsStale)
        ? undefined
        : `${by.name} makes a start call, but the record is ${record?.status} by ${record?.attemptId}.`;
    },
  },
};

export const startInTime: Invariant = {
  name: 'start-in-time',
  rule: 'No start call is made after the start window, which does not count the time in line, except by an attempt that started within it.',
  checks: {
    startCall: (_fact, { record, kernel, inLineMs }, premise) => {
      premise();
      const most = (settings.startWindowSeconds + settings.startTimeoutSeconds) * 1_000 + inLineMs;
      return record !== undefined && kernel.now > Date.parse(record.requestedAt) + most
        ? 'A start call is made long after the start window.'
        : undefined;
    },
  },
};

export const timeForTheCall: Invariant = {
  name: 'time-for-the-call',
  rule: 'A start call begins only if the rest of the invocation holds the whole of it.',
  checks: {
    startCall: ({ by }, { kernel }, premise) => {
      premise();
      const left = by.timeoutAt - kernel.now;
      return left >= settings.providerTimeoutMs ? undefined : `${by.name} has ${left} ms left for its call.`;
    },
  },
};

export const runningStartLeftAlone: Invariant = {
  name: 'running-start-left-alone',
  rule: 'Only the start attempt itself settles STARTING while its process runs.',
  needs: 'Clocks differ by less than the time from the start of a function to its STARTING write.',
  checks: {
    record: ({ before, after, by }, world, premise) => {
      if (world.scenario.skew > 0 || before?.status !== 'STARTING' || after.status === 'STARTING')
        return undefined;
      premise();
      const owner = world.attempts.get(before.attemptId ?? '');
      // A request that was on its way when its process ended still belongs to that process.
      return owner?.alive === true && by !== undefined && by !== owner
        ? `${by.name} changed the status of a start by ${owner.name}, which still runs.`
        : undefined;
    },
  },
};

const isCancelled = ({ lastProblem }: Extraction): boolean => lastProblem === 'cancelled';

export const startWindowUsed: Invariant = {
  name: 'start-window-used',
  rule: 'The machine abandons no start for an error within the start window.',
  needs:
    'Jitter leaves no less than three standard deviations below its mean. A timeout of the wait for the webhook is not an error.',
  checks: {
    record: ({ before, after }, { execution, scenario, windowOver }, premise) => {
      if (after.status !== 'NOT_STARTED' || before?.status === after.status || scenario.jitter < 0.3) return;
      if (isCancelled(after)) return;
      if (after.reason === 'erased') return;
      premise();
      const error = execution?.abandonedFor ?? 'States.Timeout';
      // A process whose clock is ahead finds the window over too early.
      const isEarly = scenario.skew > 0 && error === 'StartWindowOver';
      return error === 'States.Timeout' || windowOver || isEarly
        ? undefined
        : `NOT_STARTED within the start window, for ${error}.`;
    },
  },
};

export const notStartedMeansNoTask: Invariant = {
  name: 'not-started-means-no-task',
  rule: 'NOT_STARTED is written only if no start call was or will be accepted, and only after an operator cancelled it, it is to be erased, the machine abandoned the start, the execution broke, or the start window ended.',
  checks: {
    record: ({ before, after }, world, premise) => {
      if (after.status !== 'NOT_STARTED' || before?.status === after.status) return undefined;
      premise();
      if (after.reason === 'erased')
        return world.erasing.isAskedFor(after) ? undefined : 'Nobody asked to erase it.';
      return isCancelled(after) || world.windowOver || world.hasAbandonedStart || world.scenario.skew > 0
        ? undefined
        : 'NOT_STARTED, but a start may still be tried.';
    },
    end: (_fact, world) =>
      world.record?.status === 'NOT_STARTED' &&
      world.provider.startCalls.some(({ notAccepted }) => !notAccepted)
        ? 'NOT_STARTED, but a start call may have been accepted.'
        : undefined,
  },
};

export const rejectedMeansNoTask: Invariant = {
  name: 'rejected-means-no-task',
  rule: 'REJECTED is written only if the provider refused the start, or nothing was sent because the bank had refused the same credentials, and never if it accepted one.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.record?.status !== 'REJECTED') return undefined;
      premise();
      if (world.provider.tasks.size > 0) return 'REJECTED, but the provider has a task.';
      if (world.record.reason === 'credentials-refused-before') {
        return world.provider.startCalls.length === 0 ? undefined : 'Refused credentials were sent.';
      }
      return world.provider.startCalls.some(({ notAccepted }) => notAccepted)
        ? undefined
        : 'REJECTED, but no start call was refused.';
    },
  },
};

export const consentIsTheReason: Invariant = {
  name: 'consent-is-the-reason',
  rule: 'A start that the provider refused ends with what its consent shows, if that was read: that it has ended, or that the provider knows none.',
  checks: {
    end: (_fact, world, premise) => {
      const { consentShown } = world.provider;
      if (consentShown === undefined || world.record?.status !== 'REJECTED') return undefined;
      premise();
      const { reason } = world.record;
      return reason === consentShown
        ? undefined
        : `The consent showed ${consentShown}, and its reason is ${reason}.`;
    },
  },
};

export const unconfirmedForAReason: Invariant = {
  name: 'unconfirmed-for-a-reason',
  rule: 'UNCONFIRMED is final only if a start call was not answered, if a process was interrupted (also while it read a consent) or a write of the record failed three times between the STARTING write and the next, or if the task belongs to another extraction.',
  needs:
    'Clocks differ by less than the time from the start of a function to its STARTING write. Otherwise a start that was not accepted may end so, too.',
  checks: {
    end: (_fact, world, premise) => {
      const { record } = world;
      const reader = world.attempts.get(record?.attemptId ?? '');
      if (reader?.isReadingConsent === true && record?.reason !== 'start-interrupted') {
        return `A process ended while it read the consent, and the record is ${record?.status} ${record?.reason}.`;
      }
      if (record?.status !== 'UNCONFIRMED') return undefined;
      premise();
      // Settled as stale too early, but it had no taskId with which to return to RUNNING.
      const { startCalls } = world.provider;
      if (world.scenario.skew > 0 && startCalls.every(({ accepted }) => !accepted)) return undefined;
      const unanswered = startCalls.some(({ answered }) => !answered);
      const attempt = world.attempts.get(record.attemptId ?? '');
      const interrupted =
        attempt === undefined || attempt.interrupted || hasFailedThrice(attempt, 'apply extractions');
      const task = world.provider.tasks.get(record.taskId ?? '');
      const ofAnother = task !== undefined && task.extractionId !== record.extractionId;
      return unanswered || interrupted || ofAnother ? undefined : 'UNCONFIRMED, but nothing went wrong.';
    },
  },
};
