import { adviceOf } from '#lib/extraction/advice.ts';
import { isTerminalStatus } from '#lib/extraction/record.ts';
import type { FactName, FactOf, StoryFact } from '../../../tools/cli/explain/story-facts.ts';
import { settings } from '../world/settings.ts';
import { theExtraction } from '../world/the-extraction.ts';
import type { View } from './view.ts';

/** What contradicts a fact. Each entry is one check; the text says what the trace shows, and anything else is no contradiction. */
type Contradictions = readonly (string | false | undefined)[];

type Oracle<Name extends FactName> = (fact: FactOf<Name>, view: View) => Contradictions;

const seconds = (time: string | undefined): number => Date.parse(time ?? '') / 1_000;

/** Whether a time is not that of a write, which the process decided before it took effect, and a delayed request after its process ended. */
const isNotOf = (
  time: string | number | undefined,
  write: View['statusWrite'],
  view: View,
): string | false => {
  const since = write?.content.by?.startedAt ?? (write?.at ?? Number.NaN) - 90_000;
  const at = typeof time === 'number' ? time : Date.parse(time ?? '');
  const isWithin = at >= since - view.slackMs && at <= (write?.at ?? Number.NaN) + view.slackMs;
  return (
    !isWithin && `it was written at ${write === undefined ? 'no time' : new Date(write.at).toISOString()}`
  );
};

/** Whether a time is not that of an event, whose clock may differ. */
const isNot = (time: string | undefined, at: number | undefined, view: View): string | false => {
  const difference = Date.parse(time ?? '') - (at ?? Number.NaN);
  return (
    !(Math.abs(difference) <= view.slackMs) &&
    `it was at ${at === undefined ? 'no time' : new Date(at).toISOString()}`
  );
};

const differs = <Value>(stated: Value, shown: Value | undefined): string | false =>
  stated !== shown && `it was ${String(shown)}`;

/** Whether a time that moves with the wait in line is not this one, by that wait. */
const isNotAfterWait = (stated: string, unmoved: number, view: View, until?: number): string | false => {
  const { least, most } = view.inLineMs(until);
  // The clock that ended a wait may be ahead of the one that began it, and so may the one that asks.
  const slackMs = most === 0 ? 0 : view.slackMs + view.trace.world.scenario.skew * 1_000;
  const at = Date.parse(stated) - unmoved;
  return (
    !(at >= Math.min(least, most) - slackMs && at <= Math.max(least, most) + slackMs) &&
    `it waited in line for ${least} to ${most} ms, and ${new Date(unmoved).toISOString()} moves with that`
  );
};

/** When the grace, or the time for collecting, ends: both are 100 s here. */
const readEnd = (stated: string, view: View) =>
  isNotOf(Date.parse(stated) - settings.graceSeconds * 1_000, view.writeOf('settledAt'), view);

/** The next reconcile that decides something, once the record is due. One that was moved goes on in the slow queue; others are early, or not theirs any more. */
const nextReconcile = (view: View) =>
  view
    .after('logged')
    .map(({ content }) => content)
    .find(
      ({ at, message, fields }) =>
        message === 'Reconcile finished.' &&
        at >= (view.moment.record?.dueAt ?? '') &&
        !['moved', 'superseded', 'gone', 'not-cancelled'].includes(String(fields.outcome)) &&
        fields.explanation !== 'early',
    );

/** That the next reconcile reads, or one that is under way does. It may find what a webhook has settled instead. `false` states nothing. */
const reads = (isRead: boolean, view: View): string | false => {
  const next = nextReconcile(view);
  if (!isRead || next === undefined || view.isUnforeseeable) return false;
  const isUnderWay = view
    .before('read')
    .some(({ content: { by } }) => by.timeoutAt > view.moment.now && !view.hasFinished(by));
  const end = Date.parse(next.at);
  const isMade =
    view.after('providerRead').some(({ at }) => at <= end) ||
    view.after('read').some(({ content }) => content.by.interrupted) ||
    view
      .after('logged')
      .some(({ at, content }) => at <= end && content.message === 'The task could not be read.');
  // What a delivery left in Tasks is found without a read.
  const isSettled = view.later.some(
    ({ content: { after } }) =>
      after.settledBy === 'webhook' ||
      (isTerminalStatus(after.status) && view.moment.record?.status !== after.status),
  );
  return (
    !isUnderWay && !isMade && !isSettled && `the next reconcile ended unread: ${String(next.fields.outcome)}`
  );
};

/** Nothing is read by who begins before this time. */
const unreadUntil = (until: number, view: View): string | false => {
  const read = view.after('providerRead').find(({ at, content }) => view.isLater(content.by) && at < until);
  return read !== undefined && !view.isCutShort && `it was read at ${new Date(read.at).toISOString()}`;
};

const pausedUntil = (view: View): number => {
  const { scenario, startedAt } = view.trace.world;
  return startedAt + (scenario.breakers?.paused?.until ?? 0) * 1_000;
};

/** What holds calls at this moment, by the scenario: an operator's pause, or breakers, which are open from the start or open by a failure. */
const isPausedNow = (calls: string, view: View): boolean => {
  const { scenario, startedAt } = view.trace.world;
  const { names, from = 0 } = scenario.breakers?.paused ?? { names: [] };
  const { now } = view.moment;
  return (
    (names as readonly string[]).includes(calls) &&
    now >= startedAt + from * 1_000 &&
    // What happens at the same time takes milliseconds.
    now <= pausedUntil(view) + 1_000
  );
};

/** That the next write of a status, if any, is one of these. */
const becomes = (statuses: readonly string[], view: View): string | false => {
  const next = view.nextStatus?.content;
  return (
    next !== undefined &&
    !view.isCutShort &&
    view.isLater(next.by) &&
    !statuses.includes(next.after.status) &&
    `it became ${next.after.status}`
  );
};

/** That it is closed next, and by a later write only if nothing else is written meanwhile. */
const closesWithout = (view: View): string | false => {
  const close = view.close?.content.after;
  return close?.results !== undefined && !view.isCutShort && 'its results were collected';
};

const scheduled = (view: View) => view.visit.filter(({ type }) => type === 'TaskScheduled');

const nextScheduled = (view: View) =>
  view.after('history').find(({ content: { type } }) => type !== 'TaskFailed' && type !== 'TaskTimedOut');

/** When the machine tries again, at the latest. Somebody may end or redrive the execution before. */
const triesBy = (by: string | undefined, view: View): string | false => {
  if (by === undefined) return false;
  const next = nextScheduled(view);
  const isTry = next?.content.type === 'TaskScheduled';
  return isTry && next.at > Date.parse(by) + 1_000 && `it tried at ${new Date(next.at).toISOString()}`;
};

const someTaskRan = (view: View): boolean => view.trace.world.provider.tasks.size > 0;

const ofWebhook = (view: View, isWebhook: boolean): string | false =>
  (view.moment.record?.method === 'consent' || view.moment.record?.withoutWebhook === true) === isWebhook &&
  `a webhook was ${isWebhook ? 'not requested' : 'requested'}`;

const writer = (view: View): string => view.statusWrite?.content.by?.name.split(' ')[0] ?? '';

const writtenBy = (names: readonly string[], view: View): string | false =>
  writer(view) !== '' && !names.includes(writer(view)) && `${writer(view)} wrote it`;

const pollers = ['reconcile', 'consumer'];

/** Whether a time is not when a delivery came that was stored, after its process had ended if the request was delayed. */
const isNotStored = (time: string | undefined, view: View): string | false => {
  const stored = view.storedDelivery?.at ?? Number.NaN;
  const at = Date.parse(time ?? '');
  return !(at >= stored - 40_000 && at <= stored + view.slackMs) && 'none was stored then';
};

/** By whom, or from what, an outcome is known. */
const reportedBy = ({ by, deliveredAt, at }: FactOf<'settled'>, view: View): Contradictions => {
  const stored = view.storedDelivery?.at;
  const settledAt = view.statusWrite?.at ?? Date.parse(at);
  switch (by) {
    case 'consent-poll':
      return [view.trace.world.scenario.method === 'credentials' && 'it is by credentials'];
    case 'silent-provider-poll':
      return [view.trace.world.scenario.webhook !== 'not requested' && 'a webhook was requested'];
    case 'webhook':
      return [ofWebhook(view, true), writtenBy(['webhook'], view)];
    case 'early-webhook':
      return [
        ofWebhook(view, true),
        writtenBy(['start-task'], view),
        stored === undefined && 'none was stored',
      ];
    case 'stored-webhook':
      return [
        writtenBy(pollers, view),
        isNotStored(deliveredAt, view),
        Date.parse(deliveredAt ?? '') > settledAt + view.slackMs && 'it came later',
      ];
    case 'poll':
      return [ofWebhook(view, true), writtenBy(pollers, view)];
    case 'poll-without-webhook':
      return [
        ofWebhook(view, true),
        writtenBy(pollers, view),
        stored !== undefined && stored < settledAt && 'one was stored before',
        view.moment.forged > 0 && 'some were refused',
      ];
    case 'poll-with-refused':
      return [
        ofWebhook(view, true),
        writtenBy(pollers, view),
        view.moment.forged === 0 && 'none was refused',
      ];
    case 'poll-before-webhook':
      return [
        writtenBy(pollers, view),
        isNotStored(deliveredAt, view),
        stored !== undefined && stored < settledAt - view.slackMs && 'it was stored before',
      ];
    default:
      return [`nothing is ${by}`];
  }
};

/** The facts that can be stated while the record has a status. Any others are stated whatever it has. */
const statedIn: Readonly<Record<string, string>> = {
  REQUESTED:
    'notStartedBy endsNotStarted endsWithoutStart noExecution triesMeanwhile waitsForStart startFailed triesNow triesAgain inLine maxWait',
  STARTING: 'startCalled startStale',
  RUNNING:
    'unrecordedDelivery unlinked timesOut deadlineOver polls waitsForWebhook queueContinues atProvider',
  COMPLETED: 'uncollected',
  PARTIAL: 'uncollected codesFollow noCodes',
  FAILED: 'uncollected codesFollow noCodes',
  CREDENTIALS_WRONG: 'uncollected',
  CREDENTIALS_LOCKED: 'uncollected',
  TIMED_OUT: 'timedOut correctedUntil closes',
  NOT_STARTED: 'notStarted notAccepted',
  REJECTED: 'rejected',
  UNCONFIRMED: 'startInterrupted startUnanswered',
};

const mayBeStated = (name: FactName, status = ''): boolean => {
  const has = (names = ''): boolean => names.split(' ').includes(name);
  return has(statedIn[status]) || !Object.values(statedIn).some(has);
};

/** Those whose `at` is when the status was written. */
const ofStatus =
  /^(settled|rejected|othersTaskAnswered|startInterrupted|startUnanswered|notStarted|timedOut)$/;

/** Fields that mean the same in each fact. */
const ofField = {
  status: (stated: string, view: View) => differs(stated, view.moment.record?.status ?? ''),
  after: (stated: string, view: View) => differs(stated, view.moment.record?.dueAt ?? ''),
  deadline: (stated: string, view: View) => isNotAfterWait(stated, view.deadline, view, view.claimedAt),
  windowEnd: (stated: string, view: View) => {
    const unmoved = view.requestedAt + settings.startWindowSeconds * 1_000;
    return view.inLineMs().most === 0 ? isNot(stated, unmoved, view) : isNotAfterWait(stated, unmoved, view);
  },
  notBefore: (stated: string, view: View) => differs(stated, view.moment.record?.notBefore ?? ''),
  startingAt: (stated: string, view: View) => isNotOf(stated, view.writeOf('startingAt'), view),
  /** A start is stale once its function has timed out. */
  staleAt: (stated: string, view: View) =>
    isNotOf(Date.parse(stated) - settings.startTimeoutSeconds * 1_000, view.writeOf('startingAt'), view),
  isRead: reads,
  /** Such as `timed out`, of ExecutionTimedOut. */
  how: (stated: string, view: View) =>
    differs(`execution${stated}`.replace(' ', ''), view.history.at(-1)?.type.toLowerCase() ?? ''),
} as const;

/** Compares each fact with what the trace of its world shows. Returns the contradictions. */
export const oracles: { readonly [Name in FactName]: Oracle<Name> } = {
  recordUnread: (_fact, { moment }) => [!moment.denied.has('record') && 'it could be read'],
  unknownWhether: (_fact, { moment }) => [
    !moment.denied.has('execution') && 'the execution could be read',
    moment.record !== undefined && 'there is a record',
  ],
  erased: ({ at }, view) => {
    const ends = view
      .before('tombstone')
      .flatMap(({ at, content }) => (content.after.erasedAt === undefined ? [] : [at]));
    return [
      view.moment.record !== undefined && 'there is a record',
      ends.every((end) => isNot(at, end, view) !== false) && 'none was erased then',
    ];
  },
  gone: (_fact, view) => [
    view.moment.record !== undefined && 'there is a record',
    view.before('record').length === 0 && view.before('history').length === 0 && 'there was none',
  ],
  goneExecution: ({ startedAt }, view) => [differs(startedAt, view.history[0]?.at)],

  overdue: ({ since, isLate, isSweepOn }, view) => [
    ofField.after(since, view),
    differs(isSweepOn, view.moment.isSweepOn),
    differs(isLate, view.moment.now / 1_000 - seconds(since) > 3 * 60 * settings.sweepEveryMinutes),
  ],
  sweepOff: (_fact, { moment }) => [moment.isSweepOn && 'it is on'],

  settled: (fact, view) => [
    differs(fact.reason, view.statusWrite?.content.after.reason),
    ...reportedBy(fact, view),
  ],
  actionsFailed: ({ actions, code }, view) => {
    const results = view.writeOf('actionResults')?.content.after.actionResults ?? [];
    return actions
      .split(', ')
      .map(
        (action) =>
          !results.some(({ id, errorCode }) => id === action && errorCode === code) && 'no such result',
      );
  },
  codesFollow: (_fact, view) => [view.writeOf('actionResults') !== undefined && 'they came'],
  noCodes: (_fact, view) => [
    view
      .writeOf('actionResults')
      ?.content.after.actionResults?.some(({ errorCode }) => errorCode !== undefined) === true && 'there are',
  ],
  corrected: (_fact, view) => [
    view.statusWrite?.content.before?.status !== 'TIMED_OUT' && 'it replaced none',
  ],
  settledLate: (_fact, view) => [
    (view.statusWrite?.at ?? 0) + view.slackMs < view.deadline && 'it was before',
  ],
  rejected: ({ reason }, view) => [differs(reason, view.statusWrite?.content.after.reason)],
  othersTaskAnswered: ({ taskId, owner }, view) => {
    const task = view.trace.world.provider.tasks.get(taskId);
    return [
      (task === undefined || task.extractionId === theExtraction) && 'it is its own',
      owner !== undefined && owner !== task?.extractionId && 'it belongs to another one',
    ];
  },
  restoredUnconfirmed: ({ at }, view) => [
    isNot(at, view.before('copied').at(-1)?.at, view),
    view.moment.record?.reason !== 'restored' && 'it was not restored',
  ],
  startInterrupted: ({ loggedTaskId }, view) => [
    loggedTaskId !== undefined &&
      !view.trace.world.provider.tasks.has(loggedTaskId) &&
      'there is no such task',
    loggedTaskId === undefined && view.history.length === 0 && 'there was no execution',
  ],
  startUnanswered: ({ reason }, view) => [differs(reason, view.statusWrite?.content.after.reason)],
  notStarted: ({ reason }, view) => {
    const wasStopped = view.history.some(({ type }) => type === 'ExecutionAborted');
    const written = view.statusWrite?.content.after.reason;
    return [reason === 'stopped' ? !wasStopped && 'nobody stopped it' : differs(reason, written)];
  },
  lastTry: ({ number, at, error, problem }, view) => {
    const { history } = view;
    const tries = history.filter(({ type }) => type === 'TaskScheduled');
    const failed = history.find((one, index) => {
      const since = history.slice(0, index).findLast(({ type }) => type === 'TaskScheduled');
      return (
        /^Task(Failed|TimedOut)$/.test(one.type) &&
        one.error === error &&
        since?.at === at &&
        one.message === problem
      );
    });
    return [failed === undefined && 'no such try failed', differs(at, tries[number - 1]?.at)];
  },
  notAccepted: ({ problem }, view) => [differs(problem, view.moment.record?.lastProblem)],
  nothingRan: (_fact, view) => [
    view.trace.world.losses === 0 &&
      someTaskRan(view) &&
      view.moment.record?.status !== undefined &&
      'a task ran',
  ],
  timedOut: ({ why }, view) => [
    differs(why === 'never-read', view.moment.record?.lastProblem === 'never-read'),
    why === undefined && view.moment.record?.lastProblem !== undefined && 'a problem is known',
    why !== undefined &&
      why !== view.moment.record?.lastProblem &&
      !view.before('logged').some(({ content }) => content.fields.explanation === why) &&
      'nothing shows this',
  ],
  notCollected: ({ error }, view) => [differs(error, view.moment.record?.collectionError)],
  noResults: (_fact, view) => [
    view.writeOf('results') !== undefined && 'there are',
    view.writeOf('collectedAt') === undefined && 'they were not collected',
  ],
  collected: ({ at, bytes }, view) => [
    isNotOf(at, view.writeOf('collectedAt'), view),
    differs(bytes, view.writeOf('results')?.content.after.results?.bytes),
    view.before('storing').length === 0 && 'nothing was stored',
  ],
  advised: ({ advice }, view) => [
    view.moment.record === undefined ? 'there is no record' : differs(advice, adviceOf(view.moment.record)),
    /^request/.test(advice) &&
      [...view.trace.world.provider.tasks.values()].some(
        ({ endsAt, extractionId }) => extractionId === theExtraction && endsAt > view.moment.now,
      ) &&
      view.trace.world.losses === 0 &&
      'a task of it runs',
  ],
  refusedMeanwhile: ({ count }, { moment }) => [differs(count, moment.forged)],

  settingsUnread: (_fact, { moment }) => [!moment.denied.has('settings') && 'they could be read'],
  ofNewerVersion: ({ schemaVersion }, { moment }) => [
    schemaVersion === 1 && 'it is of this version',
    differs(schemaVersion, moment.record?.schemaVersion),
  ],
  lacking: () => [],
  held: ({ hold }, view) => [
    hold.kind === 'paused'
      ? !isPausedNow(hold.calls, view) && 'nobody paused it'
      : view.trace.world.breakers.size === 0 && 'no breaker is open',
  ],

  inLine: ({ since }, view) => [differs(since, view.waitingSince)],
  // Its rate is in no source of this world: `explain-in-line.test.ts` has it.
  startExpected: () => [],
  maxWait: ({ seconds: most }, view) => [
    view.waitingSince === undefined && 'it is not in line',
    differs(most, settings.maxWaitSeconds as number),
  ],
  notStartedBy: (_fact, view) => [
    view.moment.now + view.slackMs < view.requestedAt + settings.startWindowSeconds * 1_000 &&
      'it is not over',
  ],
  endsNotStarted: (_fact, view) => [becomes(['NOT_STARTED', 'STARTING'], view)],
  endsWithoutStart: () => [],
  executionOfEarlier: (_fact, view) => [
    view.trace.world.losses === 0 && 'there was no earlier one',
    Date.parse(view.history[0]?.at ?? '') > view.requestedAt && 'it was started later',
  ],
  noExecution: (_fact, view) => [view.history.length > 0 && 'it has one'],
  triesMeanwhile: (_fact, view) => [view.isExecutionOver && 'its execution is over'],
  executionOver: () => [],
  waitsForStart: (_fact, view) => [
    view.visit.some(({ type, error }) => type === 'TaskFailed' && error !== 'States.Timeout') &&
      !view.moment.denied.has('execution') &&
      'a try failed',
  ],
  startFailed: ({ number, error, problem }, view) => {
    const tries = scheduled(view).length;
    const failed = view.visit.findLast(({ type }) => type === 'TaskFailed');
    return [
      differs(error, failed?.error),
      differs(problem, failed?.message),
      (number < tries - 1 || number > tries) && `it was try ${tries}`,
    ];
  },
  noCallBefore: ({ notBefore }, view) => {
    const call = view
      .after('startCall')
      .find(({ at, content: { by } }) => view.isLater(by) && at + view.slackMs < Date.parse(notBefore));
    return [call !== undefined && !view.isCutShort && 'a call was made'];
  },
  triesNow: ({ number, since }, view) => [
    differs(number, scheduled(view).length),
    differs(since, scheduled(view).at(-1)?.at),
  ],
  triesAgain: ({ by }, view) => [triesBy(by, view)],

  startCalled: ({ at, staleAt }, view) => [
    ofField.startingAt(at, view),
    view.moment.now > Date.parse(staleAt) + view.slackMs && 'it is stale',
  ],
  startStale: ({ at, staleAt }, view) => [
    ofField.startingAt(at, view),
    view.moment.now < Date.parse(staleAt) - view.slackMs && 'it is not stale yet',
    becomes(['UNCONFIRMED', 'RUNNING', 'REQUESTED', 'REJECTED'], view),
  ],

  othersTask: ({ taskId, owner, endsAs }, view) => [
    differs(taskId, view.moment.record?.taskId),
    differs(owner, view.trace.world.provider.tasks.get(taskId)?.extractionId),
    endsAs !== undefined && becomes([endsAs], view),
    endsAs !== 'UNCONFIRMED' && 'it ends UNCONFIRMED',
  ],
  unrecordedDelivery: ({ taskStatus, at }, view) => [
    isNotStored(at, view),
    differs(taskStatus, view.storedDelivery?.content.after.taskStatus),
  ],
  unlinked: ({ taskId, waitEnd }, view) => [
    differs(taskId, view.moment.record?.taskId),
    view
      .before('taskItem')
      .some(({ content: { after } }) => after.taskId === taskId && after.extractionId === theExtraction) &&
      'it is linked',
    !view.moment.denied.has('execution') &&
      view.history.length > 0 &&
      isNot(waitEnd, view.webhookWaitEnd, view),
  ],
  timesOut: () => [],
  deadlineOver: (_fact, view) => [view.moment.now + view.slackMs < view.deadline && 'it is not over'],
  statusTooLarge: ({ at, hasWebhook }, view) => [
    isNotOf(at, view.writeOf('oversizedAt'), view),
    view.before('oversized').length === 0 && 'none was',
    ofWebhook(view, hasWebhook),
  ],
  polls: ({ why, since, count, nextBy }, view) => {
    const [entered] = view.visit;
    return [
      differs(entered?.state, 'Reconcile'),
      differs(since, entered?.at ?? ''),
      count !== undefined && differs(count, scheduled(view).length),
      triesBy(nextBy, view),
      why === 'consent' && view.trace.world.scenario.method === 'credentials' && 'it is by credentials',
      why === 'silent-provider' &&
        view.trace.world.scenario.webhook !== 'not requested' &&
        'a webhook was requested',
      (why === 'webhook-missing' || why === 'wait-over') && ofWebhook(view, true),
      why === 'webhook-missing' &&
        (view.storedDelivery?.at ?? Number.POSITIVE_INFINITY) < Date.parse(since) &&
        'one was stored',
      why === 'webhook-missing' && view.moment.forged > 0 && 'some were refused',
    ];
  },
  waitsForWebhook: ({ until, pollEvery }, view) => [
    differs(pollEvery, settings.pollEverySeconds as number),
    ofWebhook(view, true),
    !view.moment.denied.has('execution') && isNot(until, view.webhookWaitEnd, view),
  ],
  waitsWithoutMachine: (_fact, view) => [ofWebhook(view, true)],
  queueContinues: ({ why }, view) => [
    !view.isExecutionOver && 'its execution runs',
    differs(why === 'consent', view.trace.world.scenario.method !== 'credentials'),
  ],
  atProvider: ({ isPolled }, view) => [ofWebhook(view, false), reads(isPolled, view)],

  nextReconcile: () => [],
  nothingRead: (_fact, view) => [
    // Who cannot read the pauses reads the provider.
    !view.trace.world.counted.has('BreakerUnavailable') && unreadUntil(pausedUntil(view), view),
    !isPausedNow('reads', view) && 'reads are not paused',
  ],
  neverRead: (_fact, view) => [
    unreadUntil(Number.POSITIVE_INFINITY, view),
    view.trace.world.scenario.method === 'credentials' && 'a read needs no sealed data',
  ],
  readSkipped: (_fact, view) => [
    !view.hasLag && unreadUntil(view.nextStatus?.at ?? view.close?.at ?? 0, view),
    view.writeOf('lastReadBegunAt') === undefined && 'there was no last read',
  ],
  noReadBefore: ({ notBefore }, view) => [unreadUntil(Date.parse(notBefore), view)],
  readsSlowly: (_fact, view) => [view.writeOf('readsSlowly') === undefined && 'none failed'],

  uncollected: (_fact, view) => [
    view.writeOf('collectedAt') !== undefined && 'they are',
    view.moment.record?.dueShard === undefined && 'it is closed',
  ],
  lastTryFailed: ({ at, message }, view) => [
    view
      .before('logged')
      .findLast(
        ({ content }) => content.at === at && content.message === message && content.level === 'ERROR',
      ) === undefined && 'no such failure was logged',
  ],
  timeOver: ({ of, at }, view) => [
    readEnd(at, view),
    view.moment.now + view.slackMs < Date.parse(at) && 'it is not over',
    differs(of === 'grace', view.moment.record?.status === 'TIMED_OUT'),
  ],
  closesNext: (_fact, view) => {
    const next = nextReconcile(view);
    const isHeld = /^(reads-paused|not-before)$/.test(String(next?.fields.explanation));
    const stays = next?.fields.outcome === 'deferred' && !isHeld;
    return [
      view.moment.record?.dueShard === undefined && 'it is closed',
      stays &&
        view.nextStatus === undefined &&
        !view.isCutShort &&
        !view.hasLag &&
        `it was deferred: ${String(next.fields.explanation)}`,
    ];
  },
  closesOnceResumed: (_fact, view) => [!isPausedNow('reads', view) && 'reads are not paused'],
  closesTooLarge: (_fact, view) => [
    closesWithout(view),
    view.writeOf('oversizedAt') === undefined && 'none was',
  ],
  closesWithoutResults: ({ at }, view) => [readEnd(at, view), closesWithout(view)],
  collectedUntil: ({ until }, view) => [
    readEnd(until, view),
    view.writeOf('collectedAt') !== undefined && 'they are collected',
  ],
  correctedUntil: ({ until, byWebhook, byRead }, view) => [
    readEnd(until, view),
    ofWebhook(view, byWebhook),
    !byRead && unreadUntil(Number.POSITIVE_INFINITY, view),
  ],
  closes: ({ at }, view) => [readEnd(at, view), ofWebhook(view, false)],
};

/** What contradicts a fact, as a text; undefined if nothing does. */
export const contradiction = (fact: StoryFact, view: View): string | undefined => {
  const { fact: name, ...stated } = fact;
  const { status } = view.moment.record ?? {};
  const checks = ofField as unknown as Record<string, (stated: unknown, view: View) => string | false>;
  const all: Contradictions = [
    !mayBeStated(name, status) && `it is ${status}`,
    ofStatus.test(name) && isNotOf((fact as FactOf<'settled'>).at, view.statusWrite, view),
    ...Object.entries(stated).map(([field, value]) => checks[field]?.(value, view)),
    ...(oracles[name] as (fact: StoryFact, view: View) => Contradictions)(fact, view),
  ];
  return all.find((one) => typeof one === 'string') as string | undefined;
};
