import { defined } from '#lib/defined.ts';
import type { Change, Update } from '#lib/extraction/change.ts';
import { plan, planEarly, settleDelivered } from '#lib/extraction/decide.ts';
import type { Invoker, Observation, Plan, Result } from '#lib/extraction/plan.ts';
import type { ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import { type Extraction, type TerminalStatus, terminalStatuses } from '#lib/extraction/record.ts';
import { type Effect, type RunDeps, run, runUnread } from '#lib/extraction/run.ts';
import { start } from '#lib/extraction/start/start.ts';
import type { ApplyResult, TaskStore } from '#lib/extraction/store.ts';
import { ProviderAmbiguous, ProviderBusy, ProviderRefused } from '#lib/provider/transport/errors.ts';
import { timings } from '../support/data/extraction-fixtures.ts';
import { extractionStoreOver } from '../support/stores/memory-extraction-store.ts';
import { openLine } from '../support/stores/memory-start-line.ts';
import { answersTo } from './effect-answers.ts';
import { limitsOf, ownAttempt, reachableFrom, taskOf } from './records.ts';

/**
 * Chooses one of the ways on: first of `plain` ones, then of `departures`, with which the clock passes a limit, or another process
 * changes the record. `state` is everything on which the rest of the chain depends.
 */
export type Choose = {
  readonly way: (plain: number, departures: number, state: () => unknown) => number;
  /** The departures that there are. */
  readonly passes: boolean;
  readonly changes: boolean;
};

export type Write = {
  readonly kind: 'write';
  readonly change: Change;
  readonly before: Extraction | undefined;
  readonly after: Extraction | undefined;
  readonly isApplied: boolean;
  /** What the process takes it for. */
  readonly outcome: 'written' | 'equal' | 'lost';
};
export type Look = {
  readonly kind: 'learn';
  readonly effect: Effect;
  readonly record: Extraction;
  readonly observed: Observation;
};
export type Sent = {
  readonly kind: 'sent';
  readonly message: ReconcileMessage;
  readonly delay: number;
  readonly isSlow: boolean;
};
/** What happened, and at what time. What was learned has the time at which that began. */
export type Happened = { readonly at: Date } & (
  | Write
  | Look
  | Sent
  | { readonly kind: 'removed'; readonly requestId: string }
  | { readonly kind: 'start call' }
);

/** One invocation from its first decision to its end. */
export type Chain = {
  readonly record: Extraction;
  readonly invoker: Invoker;
  readonly happened: readonly Happened[];
  readonly endedAt: Date;
  readonly end:
    | Result
    | { readonly conclusion: 'thrown'; readonly explanation: unknown; readonly record: undefined };
};

/** The chain leads to a state that was explored before. */
export class Known extends Error {}

const maxEvents = 60;

const busy = () => Object.assign(new ProviderBusy('busy'), { retryAfter: { kind: 'delay', seconds: 300 } });
const startFailures = [
  busy,
  () => new ProviderRefused('refused', 400),
  () => new ProviderAmbiguous('ambiguous'),
];

const never = async (): Promise<never> => {
  throw new Error('It is not called.');
};

/** The ports of one invocation. Each answer, each change by another process and each step of the clock is chosen. */
const portsFor = (record: Extraction, invoker: Invoker, from: Date, choose: Choose) => {
  let clock = from;
  const happened: Happened[] = [];
  const items = new Map([[record.extractionId, record]]);
  const stored = extractionStoreOver(items, async (_call, effect) => effect());
  const current = () => items.get(record.extractionId);
  const happens = (one: Happened): void => {
    if (happened.push(one) > maxEvents) throw new Error('The chain does not end.');
  };
  const chooseAt = (plain: number, departures: number, what: unknown): number =>
    choose.way(plain, departures, () => {
      const last = happened.findLast((one) => one.kind === 'learn');
      return [invoker, clock, current(), what, happened.map(summaryOf), last?.at, last?.observed];
    });

  /** Passes the next limit of the record while something is learned, if that is chosen. Returns which of the answers it is. */
  const answer = (answers: number, what: unknown): number => {
    const now = clock.toISOString();
    const next = limitsOf(current() ?? record).filter((limit) => limit >= now);
    const chosen = chooseAt(answers, choose.passes && next.length > 0 ? answers : 0, what);
    if (chosen >= answers) clock = new Date(Date.parse(next.toSorted()[0] ?? now) + 1);
    return chosen % answers;
  };
  /** Another process changes the record, if that is chosen. */
  const interfere = async (what: unknown): Promise<void> => {
    const reachable = choose.changes ? await reachableFrom(current(), clock) : [];
    const chosen = chooseAt(1, reachable.length, what);
    if (chosen === 0) return;
    const changed = reachable[chosen - 1];
    if (changed === undefined) items.delete(record.extractionId);
    else items.set(record.extractionId, changed);
  };
  const apply = async (update: Update): Promise<ApplyResult> => {
    const change = update as Change;
    const { extractionId: _id, readRefusal, ...what } = change;
    await interfere(what);
    const before = current();
    const result = await stored.apply(update);
    const { applied, record: after } = result;
    const outcome = after === undefined ? 'lost' : applied ? 'written' : readRefusal(after);
    happens({ kind: 'write', at: clock, change, before, after, isApplied: applied, outcome });
    return result;
  };
  const learn = (effect: Effect, of: Extraction): Observation => {
    const at = clock;
    const answers = answersTo(effect, of, invoker.kind === 'start');
    const observed = answers[answer(answers.length, [effect, of])] as Observation;
    happens({ kind: 'learn', at, effect, record: of, observed });
    return observed;
  };
  const sendTo =
    (isSlow: boolean) =>
    async (message: ReconcileMessage, _caller: string, delay = 0): Promise<void> =>
      happens({ kind: 'sent', at: clock, message, delay, isSlow });
  const item = { ...record, sealed: '', expiresAt: 1e11 };
  const deps: RunDeps & { readonly requests: NonNullable<RunDeps['requests']> } = {
    extractions: { ...stored, apply },
    requests: {
      put: async () => undefined,
      get: async () => item,
      remove: async (requestId) => happens({ kind: 'removed', at: clock, requestId }),
      extend: async () => undefined,
    },
    send: sendTo(false),
    sendSlow: sendTo(true),
    now: () => clock,
    timings,
    telemetry: { about: () => {}, log: () => {}, failure: () => {}, count: () => {} },
  };
  return { deps, happened, now: () => clock, current, happens, answer, interfere, learn, item } as const;
};

/** What of the past the checks depend on. */
const summaryOf = (one: Happened): unknown => {
  if (one.kind === 'write') {
    const { transition, set } = one.change;
    return [transition ?? Object.keys(set), one.outcome];
  }
  return one.kind === 'learn' ? one.effect.kind : one.kind;
};

const credentialsMac = 'mac';

/** The real start. What goes before the `STARTING` write fails in one way, as the provider has no part in it. */
const startWith = (record: Extraction, ports: ReturnType<typeof portsFor>): Promise<Result> => {
  const { deps, answer, interfere, learn, happens, now, current, item } = ports;
  const { extractionId, requestId } = record;
  let isRead = false;
  const get = async () => {
    if (isRead) await interfere('read again');
    isRead = true;
    return current();
  };
  const current_ = async (): Promise<string> => {
    if (answer(2, 'token') === 1) throw busy();
    return 'token';
  };
  /** The link stores no MAC here, so that no outcome marks anything. */
  const mark = async () => {
    const noticedAt = record.requestedAt;
    const isRefused = answer(2, 'mark') === 1;
    return { credentialsMac, extractionIds: ['other'], noticedAt, isRefused, expiresAt: 1e11 };
  };
  const post = async (): Promise<string> => {
    happens({ kind: 'start call', at: now() });
    const error = [undefined, ...startFailures][answer(4, 'start call')]?.();
    if (error !== undefined) throw error;
    return taskOf(ownAttempt);
  };
  const callbackToken = 'token';
  const link: TaskStore['link'] = async ({ taskId }) => {
    const observed = learn({ kind: 'find-task', taskId, counts: [] }, current() ?? record);
    const { isOwn, taskStatus } = observed as Extract<Observation, { kind: 'task' }>;
    const owner = isOwn ? extractionId : 'other';
    return { taskId, extractionId: owner, callbackToken, ...defined({ taskStatus }) };
  };
  const tokens = { current: current_, drop: () => undefined };
  return start(
    { extractionId, requestId, callbackToken, callbackAttempt: 1, entry: 0, isReleased: false },
    {
      ...deps,
      extractions: { ...deps.extractions, get },
      requests: { ...deps.requests, get: async () => (answer(2, 'item') === 1 ? undefined : item) },
      tasks: {
        link,
        recordStatus: never,
        adopt: never,
        notice: never,
        setMarked: never,
        get: async () => undefined,
      },
      refusals: { get: mark, put: never },
      keptDays: 7,
      callFor: async () => ({ tokens, renewable: false, post, credentialsMac }),
      breaker: { admit: async (about) => ({ kind: 'pass', about }), report: async () => false },
      startLine: openLine(),
      logIn: never,
      whenSlow: () => () => undefined,
      msLeft: () => 60_000,
      maxCallMs: 20_000,
      newAttemptId: () => ownAttempt,
    },
  );
};

/** The first plan of an invocation that makes no start call. `taskStatus`: of a delivery. */
export const firstPlan = (
  record: Extraction,
  invoker: Invoker,
  now: Date,
  taskStatus: TerminalStatus,
): Plan => {
  if (invoker.kind !== 'webhook')
    return planEarly(record, invoker, now) ?? plan(record, invoker, now, timings);
  const { extractionId, attemptId, taskId = taskOf(attemptId) } = record;
  return settleDelivered({ extractionId, taskId, taskStatus }, now, timings);
};

/** Runs one invocation for a record. Returns undefined if it leads to a state that was explored before. */
export const runChain = async (
  record: Extraction,
  invoker: Invoker,
  from: Date,
  choose: Choose,
): Promise<Chain | undefined> => {
  const ports = portsFor(record, invoker, from, choose);
  const { deps, happened, answer, learn, now } = ports;
  const invoke = async (): Promise<Result> => {
    if (invoker.kind === 'start') return startWith(record, ports);
    const isDelivery = invoker.kind === 'webhook';
    const taskStatus = isDelivery ? terminalStatuses[answer(terminalStatuses.length, 'delivery')] : undefined;
    const first = firstPlan(record, invoker, now(), taskStatus ?? 'FAILED');
    const learning = {
      ...deps,
      perform: async (effect: Effect, of: Extraction) => ({ observed: learn(effect, of), record: of }),
    };
    return isDelivery && first.kind === 'write'
      ? runUnread(first, invoker, { ...deps, perform: never })
      : run(first, record, invoker, learning);
  };
  try {
    const end = await invoke();
    return { record, invoker, happened, endedAt: now(), end };
  } catch (error) {
    if (error instanceof Known) return undefined;
    return {
      record,
      invoker,
      happened,
      endedAt: now(),
      end: { conclusion: 'thrown', explanation: error, record: undefined },
    };
  }
};
