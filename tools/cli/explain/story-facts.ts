import type { Advice } from '../../../lib/extraction/record.ts';
import type { Hold } from './sources.ts';

/** How an outcome became known. */
export type ReportedBy =
  /** Only polls find it: there is no webhook under a consent, or the provider sends none. */
  | 'consent-poll'
  | 'silent-provider-poll'
  | 'webhook'
  /** One that came before the start was recorded. */
  | 'early-webhook'
  /** One that was not recorded at once. */
  | 'stored-webhook'
  /** Whether a webhook came is not known. */
  | 'poll'
  | 'poll-without-webhook'
  /** None was accepted, and deliveries were refused meanwhile. */
  | 'poll-with-refused'
  | 'poll-before-webhook';

/** Why an execution polls. */
type WhyPolled =
  | 'consent'
  | 'silent-provider'
  /** No webhook was stored. */
  | 'webhook-missing'
  /** None had ended the wait by then. One may have come and not be recorded. */
  | 'wait-over';

/**
 * Everything that a headline can state, each with what its sentence says. Each fact is true by itself: `test/simulation/explain` compares
 * each with what the traces of drawn worlds show. Times are ISO 8601.
 */
type StoryFacts = {
  /* There is no record, or it could not be read. */
  recordUnread: unknown;
  /** The execution, which would show whether it ever existed, could not be read either. */
  unknownWhether: unknown;
  erased: { readonly at: string };
  gone: unknown;
  goneExecution: { readonly startedAt: string };

  /* The sweep. */
  overdue: { readonly since: string; readonly isLate: boolean; readonly isSweepOn: boolean };
  sweepOff: unknown;

  /* How it ended. */
  settled: {
    readonly status: string;
    readonly at: string;
    readonly reason: string | undefined;
    readonly by: ReportedBy;
    readonly deliveredAt: string | undefined;
  };
  actionsFailed: { readonly actions: string; readonly code: string };
  codesFollow: unknown;
  noCodes: unknown;
  corrected: { readonly deadline: string };
  settledLate: { readonly deadline: string };
  rejected: { readonly at: string; readonly reason: string };
  othersTaskAnswered: {
    readonly at: string;
    readonly startingAt: string | undefined;
    readonly taskId: string;
    readonly owner: string | undefined;
  };
  restoredUnconfirmed: { readonly at: string };
  startInterrupted: {
    readonly at: string;
    readonly startingAt: string | undefined;
    /** A task that only the log names. */
    readonly loggedTaskId: string | undefined;
  };
  startUnanswered: {
    readonly at: string;
    readonly startingAt: string | undefined;
    readonly reason: string | undefined;
  };
  notStarted: { readonly at: string; readonly reason: string };
  lastTry: {
    readonly number: number;
    readonly at: string;
    readonly error: string;
    readonly problem: string | undefined;
  };
  notAccepted: { readonly problem: string };
  nothingRan: unknown;
  timedOut: { readonly at: string; readonly deadline: string; readonly why: string | undefined };
  notCollected: { readonly error: string };
  noResults: unknown;
  collected: { readonly at: string; readonly bytes: number };
  advised: { readonly advice: Advice };
  refusedMeanwhile: { readonly count: number };

  /* What an open one waits for. */
  settingsUnread: { readonly status: string };
  ofNewerVersion: { readonly status: string; readonly schemaVersion: number };
  lacking: { readonly endsAs: string | undefined; readonly after: string };
  held: { readonly hold: Hold };

  /* REQUESTED */
  inLine: { readonly since: string };
  startExpected: { readonly at: string };
  maxWait: { readonly seconds: number };
  notStartedBy: { readonly windowEnd: string };
  endsNotStarted: { readonly after: string };
  endsWithoutStart: { readonly windowEnd: string };
  executionOfEarlier: unknown;
  noExecution: unknown;
  triesMeanwhile: unknown;
  executionOver: { readonly how: string };
  waitsForStart: unknown;
  startFailed: { readonly number: number; readonly error: string; readonly problem: string | undefined };
  noCallBefore: { readonly notBefore: string };
  triesNow: { readonly number: number; readonly since: string };
  triesAgain: { readonly by: string | undefined };

  /* STARTING */
  startCalled: { readonly at: string; readonly staleAt: string; readonly after: string };
  startStale: { readonly at: string; readonly staleAt: string; readonly after: string };

  /* RUNNING */
  othersTask: { readonly taskId: string; readonly owner: string; readonly endsAs: string | undefined };
  unrecordedDelivery: { readonly taskStatus: string; readonly at: string | undefined };
  unlinked: { readonly taskId: string; readonly waitEnd: string };
  timesOut: { readonly deadline: string };
  deadlineOver: { readonly deadline: string; readonly isRead: boolean };
  statusTooLarge: { readonly at: string; readonly hasWebhook: boolean };
  polls: {
    readonly why: WhyPolled;
    readonly since: string;
    /** Undefined: no poll is made any more. */
    readonly count: number | undefined;
    readonly nextBy: string | undefined;
  };
  waitsForWebhook: { readonly until: string; readonly pollEvery: number; readonly deadline: string };
  waitsWithoutMachine: { readonly how: string };
  queueContinues: { readonly why: WhyPolled };
  atProvider: { readonly isPolled: boolean };

  /* Reads */
  nextReconcile: { readonly after: string; readonly isRead: boolean };
  nothingRead: unknown;
  neverRead: unknown;
  readSkipped: unknown;
  noReadBefore: { readonly notBefore: string };
  readsSlowly: unknown;

  /* Collecting, and the grace of TIMED_OUT */
  uncollected: unknown;
  lastTryFailed: { readonly at: string; readonly message: string };
  timeOver: { readonly of: 'collecting' | 'grace'; readonly at: string };
  closesNext: { readonly isRead: boolean };
  closesOnceResumed: unknown;
  closesTooLarge: { readonly after: string };
  closesWithoutResults: { readonly at: string };
  collectedUntil: { readonly until: string; readonly after: string; readonly isRead: boolean };
  correctedUntil: {
    readonly until: string;
    readonly byWebhook: boolean;
    readonly byRead: boolean;
  };
  closes: { readonly at: string };
};

export type FactName = keyof StoryFacts;

export type FactOf<Name extends FactName> = { readonly fact: Name } & StoryFacts[Name];

export type StoryFact = { [Name in FactName]: FactOf<Name> }[FactName];
