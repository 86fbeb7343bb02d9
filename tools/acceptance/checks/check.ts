import type { ClientConfig, Deployment } from '../../cli/aws/deployment.ts';
import type { ReconcileSettings } from '../../cli/aws/read-reconcile-settings.ts';
import { CliError } from '../../cli/terminal/errors.ts';
import type { AcceptApi } from './call-deployed-api.ts';
import type { FakeProvider } from './find-fake-provider.ts';
import type { StackParts } from './stack-parts.ts';

/** The result of one check. `explanation` states what was found and, for a failure, where to search. */
export type CheckResult = { readonly kind: 'passed' | 'failed' | 'skipped'; readonly explanation: string };

export const passed = (explanation: string): CheckResult => ({ kind: 'passed', explanation });
export const failed = (explanation: string): CheckResult => ({ kind: 'failed', explanation });
export const skipped = (explanation: string): CheckResult => ({ kind: 'skipped', explanation });

/** What a check expected did not hold. The message is the explanation of its failure. */
export class Unmet extends CliError {
  override readonly name = 'Unmet';
}

/** Throws Unmet with these sentences and what to do, if there are any. */
export const expectNone = (problems: readonly string[], remedy = ''): void => {
  if (problems.length > 0) throw new Unmet([...problems, remedy].join(' ').trim());
};

/** What a check gets. All checks of a run share it, except how it waits. */
export type AcceptContext = {
  readonly deployment: Deployment;
  readonly client: ClientConfig;
  readonly settings: ReconcileSettings;
  readonly stack: StackParts;
  readonly fakeProvider: FakeProvider;
  readonly api: AcceptApi;
  /** The messages that were received from queues, as several checks may wait for messages of one queue. */
  readonly received: string[];
  /** After how many seconds the task ends that has to time out before. */
  readonly lateTaskSeconds: number;
  readonly startedAt: Date;
  readonly now: () => Date;
  readonly randomId: () => string;
  /** Aborts when the time of this check is over, or on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Waits. Rejects with AbortError when `signal` aborts. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Reports what this check waits for, for the progress and for the failure if its time is over. */
  readonly waitFor: (what: string) => void;
  /** Waits for this until `probe` returns neither undefined nor false, and returns that. Default: it probes once a second. */
  readonly until: <Found>(
    what: string,
    probe: () => Promise<Found | undefined | false>,
    everyMs?: number,
  ) => Promise<Found>;
};

export type SharedContext = Omit<AcceptContext, 'signal' | 'sleep' | 'waitFor' | 'until'>;

/** One check of a stage. Its id is the same in every version, for scripts that read `accept --json` and for `--only`. */
export type Check = {
  readonly id: string;
  /** What holds if it passes, as a sentence without a full stop. */
  readonly title: string;
  /**
   * Checks of the turn `together` run at the same time. Those of `alone` follow one after another, as each changes or
   * measures something that others share. Those of `last` read what the whole run has left. Default: `together`.
   */
  readonly turn?: 'together' | 'alone' | 'last';
  /**
   * The id of a check that shows a link which this one needs too. If that check fails, this one is skipped, or stopped where it
   * waits, as it could only wait for its time to be over.
   */
  readonly dependsOn?: string;
  /** How many seconds it may take on AWS. Default: 60. */
  readonly seconds?: (context: Pick<AcceptContext, 'settings' | 'lateTaskSeconds'>) => number;
  /** Why MiniStack cannot answer it, if it cannot. The check is then skipped there. */
  readonly notOnEmulator?: string;
  /** Throws Unmet, and the SDK's errors, which count as failures. */
  readonly run: (context: AcceptContext) => Promise<CheckResult>;
};

/** The check that shows that webhooks arrive. The others that expect an extraction to end by its webhook depend on it. */
export const webhookArrives = 'outcomes-plain';
