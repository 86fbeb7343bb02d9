import type { TerminalStatus } from '../../../lib/extraction/record.ts';

/** What the provider answers to a start call by itself. */
export type StartAnswer = 'taken' | 'busy' | 'unreachable' | 'unauthorized' | 'refused';

/** The world that a schedule runs in: what happens without any departure. */
export type Scenario = {
  readonly name: string;
  readonly method: 'credentials' | 'consent-v1' | 'consent-v2';
  /** Credentials that the caller encrypted under a session token of its own. */
  readonly callersToken: boolean;
  /** One for each start call, in order; `taken` from then on. */
  readonly startAnswers: readonly StartAnswer[];
  readonly task: {
    /** Seconds from the start call to the task's end. */
    readonly endsAfter: number | 'never';
    readonly status: TerminalStatus;
    /** What a read says, where that is not what the webhook says. */
    readonly readAs?: TerminalStatus;
    /** The provider answers with the id of a task that another extraction has linked. */
    readonly anothers?: true;
    /** Seconds after its end that the provider knows the task; for good by itself. */
    readonly keptFor?: number;
    /** The results, where there are any, are over the cap. */
    readonly tooLarge?: true;
    /** The answer with the results has no data in it, or begins with a byte order mark. By consent only. */
    readonly shape?: 'no-data' | 'byte-order-mark';
  };
  /** Whether the provider makes any delivery. */
  readonly webhook: 'sent' | 'silent';
  /** Seconds from the request during which every read of the provider fails. */
  readonly outage?: { readonly from: number; readonly to: number };
  /** The part of a retry's interval that full jitter leaves of it. */
  readonly jitter: 0 | 0.5 | 1;
  /** Whether any two looks at the clock are at least a millisecond apart, or may read the same. */
  readonly clock: 'fine' | 'coarse';
  /** Seconds that the clocks of those who may declare an attempt dead are ahead. */
  readonly skew: number;
  /** Seconds from the request after which an operator asks for a look. */
  readonly lookAfter?: number;
  /** The name under which Lambda reports a crash. `swallowed`: a state that waits for its token waits on, unlike on AWS. */
  readonly deaths: 'Runtime.ExitError' | 'Runtime.OutOfMemory' | 'Lambda.Unknown' | 'swallowed';
  /** Seconds from the request until which the functions that the machine invokes cannot be loaded. */
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
  deaths: 'Runtime.ExitError',
};
