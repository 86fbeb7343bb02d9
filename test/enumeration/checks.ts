import { allowedTransitions } from '#lib/extraction/change.ts';
import { delayUntil, maxDelaySeconds, plusSeconds } from '#lib/extraction/deadlines.ts';
import { type Extraction, hasWebhook, isTerminalStatus } from '#lib/extraction/record.ts';
import { isRequestDone } from '#lib/extraction/request-data.ts';
import type { Effect } from '#lib/extraction/run.ts';
import { timings } from '../support/data/extraction-fixtures.ts';
import type { Chain, Happened } from './decision-chain.ts';
import { lagEndOf, mayEnd, ownAttempt } from './records.ts';

/** What holds for every chain. `broken` returns how a chain breaks it. */
type Check = {
  readonly name: string;
  readonly rule: string;
  readonly broken: (chain: Chain) => string | undefined;
};

type Kind<K extends Happened['kind']> = Extract<Happened, { kind: K }>;
const of = <K extends Happened['kind']>({ happened }: Chain, kind: K): readonly Kind<K>[] =>
  happened.filter((one): one is Kind<K> => one.kind === kind);

const isRead = ({ kind }: Effect): boolean => kind === 'read' || kind === 'last-read' || kind === 'no-read';

const isOpen = (record: Extraction | undefined): record is Extraction => record?.dueShard !== undefined;

const writesOf = (chain: Chain) => of(chain, 'write').filter(({ isApplied }) => isApplied);

/** Whether a write says that the task gave no outcome or no results: for this reason, or for none. */
const givesUp = ({ change: { transition, set } }: Kind<'write'>): boolean =>
  transition === 'markTimedOut'
    ? set.expiresAt === undefined
    : set.expiresAt !== undefined &&
      set.collectedAt === undefined &&
      transition === undefined &&
      !['results-too-large', 'task-linked-elsewhere'].includes(set.collectionError ?? '');

/** What was learned by an effect that began before this, with nothing refused in between. */
const learnedBefore = ({ happened }: Chain, index: number): readonly Kind<'learn'>[] => {
  const since = happened.findLastIndex(
    (one, at) => at < index && one.kind === 'write' && one.outcome === 'lost',
  );
  return happened.slice(since + 1, index).filter((one) => one.kind === 'learn');
};

/** Reasons that only an effect brings. */
const isLearned = (explanation: unknown): boolean =>
  typeof explanation === 'string' &&
  ['still-running', 'request-data-gone', 'ProviderUnreachable', 'InternalError'].includes(explanation);

/** A reading that is used on any record: the next read would download the same again. */
const isKept = (learned: Kind<'learn'> | undefined): boolean =>
  learned?.observed.kind === 'read' && learned.observed.reading.kind !== 'running';

const latestDueAt = ({ status, settledAt = '' }: Extraction, now: Date): string => {
  if (isTerminalStatus(status)) return plusSeconds(now, 3_600);
  const poll = plusSeconds(now, timings.pollEvery);
  const graceEnd = status === 'TIMED_OUT' ? plusSeconds(settledAt, timings.grace) : '';
  return poll > graceEnd ? poll : graceEnd;
};

/** How an open record is visited again after an end that leaves it to a message or to the sweep. */
const deferred = (chain: Chain, record: Extraction): string | undefined => {
  const { invoker, endedAt, end } = chain;
  // It changes nothing of what goes on, and is left to those that do.
  if (invoker.kind === 'cancel') return undefined;
  const { dueAt = '' } = record;
  const [sent, second] = of(chain, 'sent');
  const last = of(chain, 'write').at(-1);
  const isOwn = last?.outcome === 'written' && last.change.set.dueAt === dueAt;
  const isEarly = end.explanation === 'early' && invoker.kind === 'queue' && invoker.dueAt === dueAt;
  // The sweep comes for a start at the end of its window, which no reconcile moves.
  const isStart = record.status === 'REQUESTED';
  if (last?.outcome === 'lost' && last.change.set.status !== undefined && !isStart)
    return 'It ends after a refused write.';
  if (isOwn && dueAt > latestDueAt(record, endedAt)) return `It is due too late, at ${dueAt}.`;
  if (!isOwn && !isEarly) return sent === undefined ? undefined : 'It sends the message of another process.';
  const delay = delayUntil(dueAt, endedAt);
  if (delay > maxDelaySeconds) return sent === undefined ? undefined : 'Its message is too early.';
  const isRight =
    second === undefined &&
    sent?.message.dueAt === dueAt &&
    sent.delay === delay &&
    sent.isSlow === (record.readsSlowly === true);
  return isRight ? undefined : 'It does not send the message for its dueAt.';
};

const neverThrows: Check = {
  name: 'never-throws',
  rule: 'No chain throws, and every chain ends. With few departures none repeats itself until it is stopped.',
  broken: ({ end: { conclusion, explanation } }) =>
    conclusion === 'thrown'
      ? String(explanation)
      : explanation === 'contended'
        ? 'It repeats itself.'
        : undefined,
};

const oneStartCall: Check = {
  name: 'start-call-once',
  rule: "The start call is made after this attempt's STARTING write, at most once, and not after an answer.",
  broken: (chain) => {
    const [call, second] = of(chain, 'start call');
    if (second !== undefined) return 'There are two.';
    if (call === undefined) return undefined;
    const before = chain.happened.slice(0, chain.happened.indexOf(call));
    const claim = before.findLast((one) => one.kind === 'write');
    const isClaimed =
      claim?.change.transition === 'markStarting' &&
      claim.outcome === 'written' &&
      claim.after?.attemptId === ownAttempt;
    return isClaimed ? undefined : 'The attempt has not claimed the start.';
  },
};

const visitedAgain: Check = {
  name: 'visited-again',
  rule: 'An open record is left to the machine, to a message that is sent, or to a dueAt that is near.',
  broken: (chain) => {
    const { invoker, end } = chain;
    const { conclusion, explanation, record } = end;
    if (!isOpen(record)) return undefined;
    const sent = of(chain, 'sent').length;
    const hasMachine = invoker.kind === 'machine' || invoker.kind === 'start';
    if (conclusion === 'not-yet')
      return hasMachine || explanation === 'contended' ? undefined : 'Nobody repeats it.';
    if (conclusion === 'queued' || conclusion === 'moved')
      return sent === 1 ? undefined : `${sent} messages are sent.`;
    if (conclusion === 'awaits-webhook')
      return hasWebhook(record) && invoker.kind === 'start' ? undefined : 'No webhook will come.';
    if (conclusion === 'deferred') return deferred(chain, record);
    if (conclusion === 'not-cancelled')
      return invoker.kind === 'cancel' && of(chain, 'write').every(({ isApplied }) => !isApplied)
        ? undefined
        : 'It was changed.';
    if (conclusion === 'superseded')
      return sent === 0 ? undefined : 'It sends the message of another process.';
    return `It ends as ${conclusion}.`;
  },
};

const closedLeftAlone: Check = {
  name: 'closed-left-alone',
  rule: 'A closed record is written only by a late start or a correction.',
  broken: (chain) => {
    const write = writesOf(chain).find(
      ({ before, change }) =>
        !isOpen(before) && !['markRunningLate', 'correctOutcome'].includes(change.transition ?? ''),
    );
    return write && `${write.change.transition} changes a closed record.`;
  },
};

const requestKept: Check = {
  name: 'needed-request-kept',
  rule: 'No chain removes the item of a request that its last record needs.',
  broken: (chain) => {
    const { record } = chain.end;
    const isRemoved = of(chain, 'removed').some(({ requestId }) => requestId === record?.requestId);
    return isRemoved && record !== undefined && !isRequestDone(record) ? record.status : undefined;
  },
};

const requestForgotten: Check = {
  name: 'request-forgotten',
  rule: 'The chain after which nothing needs the item of a request removes it. The webhook has no access to it.',
  broken: (chain) => {
    const { record } = chain.end;
    if (chain.invoker.kind === 'webhook' || record === undefined || !isRequestDone(record)) return undefined;
    const isDoneHere = writesOf(chain).some(
      ({ before, after }) => before && after && !isRequestDone(before) && isRequestDone(after),
    );
    const isRemoved = of(chain, 'removed').some(({ requestId }) => requestId === record.requestId);
    return isDoneHere && !isRemoved ? `Nobody removes it after ${record.status}.` : undefined;
  },
};

const statusesOfTheTable: Check = {
  name: 'statuses-of-the-table',
  rule: 'Each status is written by a transition of the table, from its statuses to its statuses.',
  broken: (chain) => {
    for (const { before, after, change } of writesOf(chain)) {
      if (before === undefined || after === undefined || change.set.status === undefined) continue;
      const { from, to } = (change.transition && allowedTransitions[change.transition]) ?? {
        from: [],
        to: [],
      };
      const has = (of_: readonly string[], status: string): boolean => of_.includes(status);
      if (!has(from, before.status) || !has(to, after.status))
        return `${before.status} became ${after.status}.`;
    }
    return undefined;
  },
};

const timeIsFresh: Check = {
  name: 'time-is-fresh',
  rule: 'A write has the time at which it is made, and leaves no dueAt that has passed.',
  broken: (chain) => {
    for (const { at, before, change } of of(chain, 'write')) {
      const { set, transition } = change;
      const now = at.toISOString();
      const times = [set.startingAt, set.startedAt, set.settledAt, set.collectedAt];
      if (times.some((time) => time !== undefined && time !== now))
        return `It writes another time than ${now}.`;
      const isPast = set.dueAt !== undefined && set.dueAt <= now && transition !== 'revertToRequested';
      if (isPast && before !== undefined) return `It is due at ${set.dueAt}, before ${now}.`;
    }
    return undefined;
  },
};

const limitsHold: Check = {
  name: 'limits-hold',
  rule: 'What ends a wait is written once its limit has passed, by a process whose read was not held, and a read that returns after the limit ends the wait.',
  broken: (chain) => {
    const { happened, end, endedAt } = chain;
    for (const [index, one] of happened.entries()) {
      if (one.kind !== 'write' || one.outcome !== 'written' || one.before === undefined) continue;
      const { transition, set } = one.change;
      const learned = learnedBefore(chain, index);
      const isHeld = learned.some(
        ({ observed }) => observed.kind === 'unread' && observed.unread === 'not-now',
      );
      if (isHeld && givesUp(one) && transition !== 'markTimedOut')
        return 'It ends although the last read is held.';
      const isStale = transition === 'markUnconfirmed' && set.reason === 'start-interrupted';
      const isOver = transition === 'markNotStarted' && set.reason === 'start-window-over';
      if ((givesUp(one) || isStale || isOver) && !mayEnd(one.before, one.at)) return 'It ends too early.';
    }
    const { record, conclusion, explanation } = end;
    if (!isOpen(record) || conclusion === 'moved' || conclusion === 'queued') return undefined;
    const [learned] = learnedBefore(chain, happened.length);
    const isOfStatus = record.status === 'RUNNING' || learned?.record.status === record.status;
    const isAnswered =
      isLearned(explanation) || explanation === 'no-results' || explanation === 'results-too-large';
    return isAnswered && isOfStatus && mayEnd(record, endedAt)
      ? `It goes on after the last read: ${explanation}.`
      : undefined;
  },
};

const refusalForgets: Check = {
  name: 'refusal-forgets',
  rule: 'After a refused write, nothing that was learned before is used, except a reading that need not be made again.',
  broken: (chain) => {
    const { happened, end } = chain;
    const since = happened.findLastIndex(
      (one) =>
        one.kind === 'write' &&
        one.outcome === 'lost' &&
        (one.change.set.status !== undefined || givesUp(one)),
    );
    if (since < 0) return undefined;
    const after = happened.slice(since + 1);
    if (after.some(({ kind }) => kind === 'learn')) return undefined;
    if (isKept(happened.findLast((one) => one.kind === 'learn'))) return undefined;
    const gaveUp = after.some((one) => one.kind === 'write' && givesUp(one));
    return gaveUp || (isOpen(end.record) && isLearned(end.explanation))
      ? `It ends with ${end.explanation}.`
      : undefined;
  },
};

const readsAllowed: Check = {
  name: 'reads-allowed',
  rule: 'No read is made that the provider held. Past the time of its status a record keeps the read, which is not brief, and is not made again if its process may have ended. No other read is refused.',
  broken: ({ invoker, ...chain }) => {
    for (const { at, record, effect } of of({ invoker, ...chain }, 'learn')) {
      if (!isRead(effect)) continue;
      const isOver = mayEnd(record, at);
      const isLost = (record.lastReadBegunAt ?? '9') < plusSeconds(at, -timings.reconcileTimeout);
      const right = isOver ? (isLost ? 'no-read' : 'last-read') : 'read';
      if (effect.kind !== right) return `It is a ${effect.kind}, and should be a ${right}.`;
      const isLast = record.status !== 'RUNNING' && isOver;
      if (!isLast && (record.notBefore ?? '') > at.toISOString()) return 'The provider asked to wait.';
      if (isOver && invoker.kind === 'queue' && invoker.isSlow !== true) return 'The last read is brief.';
    }
    return undefined;
  },
};

/** Whether a call of the provider or of the bucket failed. */
const hasFailed = ({ observed }: Kind<'learn'>): boolean =>
  observed.kind === 'stored'
    ? observed.results === undefined
    : observed.kind === 'unread' && observed.unread === 'failed';

const briefDecidesNothing: Check = {
  name: 'brief-decides-nothing',
  rule: 'What fails in the reconcile queue moves to the slow queue. What fails there or elsewhere, and changes no status, continues there.',
  broken: (chain) => {
    const { invoker, end } = chain;
    const learned = of(chain, 'learn').at(-1);
    if (learned === undefined || !hasFailed(learned) || learned.effect.kind === 'find-request')
      return undefined;
    if (invoker.kind === 'queue' && invoker.isSlow !== true) {
      return end.conclusion === 'moved'
        ? undefined
        : `It ends as ${end.conclusion}, although a brief call failed.`;
    }
    const isStatus = of(chain, 'write').at(-1)?.change.transition !== undefined;
    const isDeferred = end.conclusion === 'deferred' && of(chain, 'sent').length > 0 && !isStatus;
    return isDeferred && end.record.readsSlowly !== true ? 'The next call is brief again.' : undefined;
  },
};

const laggingAwaited: Check = {
  name: 'incomplete-read-again',
  rule: 'Results of COMPLETED that lack a part are read again until resultsLag has passed, and then stored as they are.',
  broken: (chain) => {
    const { happened, end, endedAt } = chain;
    const learned = of(chain, 'learn');
    const read = learned.findLast(({ effect }) => isRead(effect))?.observed;
    if (read?.kind !== 'read' || read.reading.kind !== 'ended' || read.reading.results !== 'part')
      return undefined;
    const close = writesOf(chain).find(({ change }) => change.set.collectedAt !== undefined);
    if (close?.before?.status === 'COMPLETED') {
      if (close.at.toISOString() < lagEndOf(close.before)) return 'They are stored too early.';
      return close.change.set.lastProblem === 'results-incomplete'
        ? undefined
        : 'They are stored as complete.';
    }
    const { record } = end;
    if (end.explanation !== 'results-incomplete' || !isOpen(record)) return undefined;
    const last = happened.findLast((one) => one.kind === 'write');
    if (last?.outcome !== 'written' || last.change.set.dueAt !== record.dueAt) return undefined;
    if (endedAt.toISOString() >= lagEndOf(record)) return 'They are awaited for too long.';
    return (record.dueAt ?? '') <= lagEndOf(record) ? undefined : 'The next read comes too late.';
  },
};

export const checks: readonly Check[] = [
  neverThrows,
  oneStartCall,
  visitedAgain,
  closedLeftAlone,
  requestKept,
  requestForgotten,
  statusesOfTheTable,
  timeIsFresh,
  refusalForgets,
  limitsHold,
  readsAllowed,
  briefDecidesNothing,
  laggingAwaited,
];
