import type { TerminalStatus } from '#lib/extraction/record.ts';
import type { PausableCalls } from '#lib/shared-item/operator-settings.ts';
import type { LaggingShape } from '../models/provider.ts';

/** The default answer of the provider to a start call. */
export type StartAnswer =
  | 'accepted'
  /** A 429 that names the user. */
  | 'busy'
  /** With a `Retry-After`. */
  | 'busy for a time'
  /** A 429 that names nobody. */
  | 'over the rate'
  /** The monthly quota is used up. */
  | 'over quota'
  | 'unreachable'
  | 'unauthorized'
  | 'refused';

/** What may be dead. `rule`: the one for broken executions. `waking`: SendTaskSuccess. */
export const parts = ['machine', 'queue', 'rule', 'waking', 'webhook', 'sweep'] as const;

export type Part = (typeof parts)[number];

/** What happens in a world by default, without departures. */
export type Scenario = {
  readonly name: string;
  readonly method: 'credentials' | 'consent-v1' | 'consent-v2';
  /** Whether the caller encrypted the credentials under its own session token. */
  readonly callersToken: boolean;
  /** One answer for each start call, in order; `accepted` from then on. */
  readonly startAnswers: readonly StartAnswer[];
  readonly task: {
    /** Seconds from the start call to the task's end. */
    readonly endsAfter: number | 'never';
    readonly status: TerminalStatus;
    /** The status in a read, if it differs from that in the webhook. */
    readonly readAs?: TerminalStatus;
    /** The provider answers the start with a task that is linked to another extraction. */
    readonly ofAnother?: true;
    /** For how many seconds after its end the provider knows the task; forever by default. */
    readonly keptFor?: number;
    /** The results, if there are any, are over the size limit. */
    readonly tooLarge?: true;
    /** So many reads of the ended task end their process, which runs out of memory. */
    readonly endsProcesses?: number;
    /** The answer with the results has no data, or starts with a byte order mark. By consent only. */
    readonly shape?: 'no-data' | 'byte-order-mark';
    /** For so many seconds after the end of the task, a read shows this in place of its results. */
    readonly lagging?: { readonly for: number; readonly shape: LaggingShape };
  };
  /** Whether the provider makes any delivery. `not requested`: as in its sandbox, and the service knows (`providerSendsWebhooks`). */
  readonly webhook: 'sent' | 'silent' | 'not requested';
  /** Seconds from the request during which every read of the provider fails. */
  readonly outage?: { readonly from: number; readonly to: number };
  /** The part of a retry's interval that remains after full jitter. 0.3 of all is three standard deviations below the mean. */
  readonly jitter: 0 | 0.3 | 1;
  /** Whether two reads of the clock are at least a millisecond apart, or may return the same. */
  readonly clock: 'fine' | 'coarse';
  /** By how many seconds the clocks of the processes that may settle a stale start are ahead. */
  readonly skew: number;
  /** By how many seconds the clock of every other process that consumes a message is behind those of the others. */
  readonly lag: number;
  /** After how many seconds from the request an operator reconciles the record. */
  readonly reconcileAfter?: number;
  /** After how many seconds from the request an operator cancels it. */
  readonly cancelAfter?: number;
  /** After how many seconds from the request somebody asks to have the extraction erased. */
  readonly eraseAfter?: number;
  /** The error name of a crash. If `unreported`, a state that waits for its callback token waits on, unlike on AWS. */
  readonly interruptions: 'Runtime.ExitError' | 'Runtime.OutOfMemory' | 'Lambda.Unknown' | 'unreported';
  /** AWS loses the first invocation by the state Reconcile, and never answers. */
  readonly firstPollLost?: true;
  /**
   * The breakers. Without it, every call is admitted. `open`: those of the caller and of the group are open at the request.
   * `paused`: an operator pauses these calls, and resumes, after so many seconds from the request.
   */
  readonly breakers?: {
    readonly open?: boolean;
    readonly paused?: {
      readonly names: readonly PausableCalls[];
      readonly from?: number;
      readonly until: number;
    };
  };
  /**
   * The provider's rate. Without it, and without `breakers`, no call of the line is a step of a schedule. `perSecond`: the setting.
   * `takenUntil`: until so many seconds from the request, others have all permits. `deadFrom`: no dispatcher runs from then on.
   */
  readonly line?: {
    readonly perSecond?: number;
    readonly takenUntil?: number;
    readonly deadFrom?: number;
  };
  /**
   * Between so many seconds from the request, the record is that of a newer version of the service, which was then rolled
   * back, and in the end deployed again.
   */
  readonly newer?: { readonly from: number; readonly until: number };
  /** Whether credentials that the bank refused are marked. `refused`: another extraction has marked these before. */
  readonly marks?: 'none' | 'refused';
  /** After so many seconds from the request, the items of `Requests` are lost. */
  readonly requestLostAfter?: number;
  /** After so many seconds from the request, the item of the request expires, because intake wrote it under shorter settings. */
  readonly requestExpiresAfter?: number;
  /** Parts that fail every call and do nothing, for ever, after so many seconds from the request. */
  readonly dead?: { readonly parts: readonly Part[]; readonly from: number };
  /** Until how many seconds from the request Lambda cannot load the functions of the machine and of the queue. */
  readonly brokenDeployUntil?: number;
};

export const plain: Scenario = {
  name: 'plain',
  method: 'credentials',
  callersToken: false,
  startAnswers: [],
  task: { endsAfter: 12, status: 'COMPLETED' },
  webhook: 'sent',
  jitter: 1,
  clock: 'fine',
  skew: 0,
  lag: 0,
  interruptions: 'Runtime.ExitError',
};
