import { type Process, wentWell } from '../world/process.ts';
import { settings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { isNewer, reconciles } from './collecting-and-closing.ts';
import type { Invariant } from './invariant.ts';

/** Whether the process that ended the start before it was made could also end its wait. */
const couldEndWait = (by: Process | undefined, world: World): by is Process =>
  by !== undefined && !by.alive && wentWell(by) && !world.isDead('waking') && !world.isDead('machine');

export const withdrawnIsOver: Invariant = {
  name: 'withdrawn-is-over',
  rule: 'Who writes NOT_STARTED while the execution waits in line ends that wait.',
  needs: 'The process was not interrupted, and none of its calls failed.',
  checks: {
    history: ({ type, state }, world, premise) => {
      if (world.withdrawnBy === undefined || type !== 'TaskStateExited' || state !== 'InLine')
        return undefined;
      premise();
      return couldEndWait(world.withdrawnBy, world)
        ? `${world.withdrawnBy.name} has ended, and the execution waited on.`
        : undefined;
    },
  },
};

export const notStartedIsNotInLine: Invariant = {
  name: 'not-started-is-not-in-line',
  rule: 'What is not started any more is not in line, where it would take the place of another start.',
  needs: 'The process that ended the start was not interrupted, and none of its calls failed.',
  checks: {
    end: (_fact, world, premise) => {
      const { record, line, withdrawnBy } = world;
      if (record?.status !== 'NOT_STARTED' || !couldEndWait(withdrawnBy, world)) return undefined;
      premise();
      const item = line.items.get(record.extractionId);
      return item?.requestId === record.requestId && item.callbackToken !== undefined
        ? 'It is in line.'
        : undefined;
    },
  },
};

export const nobodyWaitsInVain: Invariant = {
  name: 'nobody-waits-in-vain',
  rule: 'Nobody goes in line once its start window is over, as it could not be started any more.',
  needs:
    'By the clock when its process began, or when the provider answered its call. What it decides from that may take effect late.',
  checks: {
    lineItem: ({ before, after, by }, { record, provider }, premise) => {
      const waits = after?.waitingSince !== undefined && after.waitingSince !== before?.waitingSince;
      if (!waits || by === undefined || record?.requestId !== after.requestId) return undefined;
      premise();
      const answered = provider.startCalls.findLast((call) => call.by === by);
      const decidedAt = answered?.at ?? by.startedAt;
      const usedMs = decidedAt - Date.parse(record.requestedAt) - after.waitedMs;
      return usedMs > settings.startWindowSeconds * 1_000
        ? `${by.name} goes in line ${Math.round(usedMs / 1_000)} s after the request.`
        : undefined;
    },
  },
};

export const waitsNoLonger: Invariant = {
  name: 'waits-no-longer',
  rule: 'A start in line is due once it has waited for `maxWaitSeconds` in all, and then ends as one that has waited for too long. One that was released, or never came in line, is due one start window after that.',
  needs: 'This version wrote the record.',
  checks: {
    record: ({ before, after, by }, { kernel, execution, scenario }, premise) => {
      const { waitingSince, waitedMs = 0, callbackToken, requestId, releasedAt } = by?.seenInLine ?? {};
      if (!reconciles(by) || waitingSince === undefined || requestId !== after.requestId) return undefined;
      if (after.status === 'NOT_STARTED' && before?.status === 'REQUESTED') {
        const isOfMachine = by.cause === 'execution-broken' || (by.cause === undefined && !by.byOperator);
        const until = Date.parse(waitingSince) + settings.maxWaitSeconds * 1_000 - waitedMs;
        if (callbackToken === undefined || isOfMachine || by.startedAt < until) return undefined;
        premise();
        return after.lastProblem === 'waited-too-long' ? undefined : `It ends for ${after.lastProblem}.`;
      }
      if (after.status !== 'REQUESTED' || before?.dueAt === after.dueAt || isNewer(by.lastSeen))
        return undefined;
      premise();
      const latest =
        callbackToken === undefined
          ? Date.parse(releasedAt ?? waitingSince) + settings.startWindowSeconds * 1_000
          : kernel.now + settings.maxWaitSeconds * 1_000 - (execution?.inLineMs ?? 0);
      const lateMs = Date.parse(after.dueAt ?? '') - latest - scenario.skew * 1_000;
      return lateMs > 1_000 ? `It is due ${Math.round(lateMs / 1_000)} s after its wait.` : undefined;
    },
  },
};
