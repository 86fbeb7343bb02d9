import type { AcceptContext } from './context.ts';

/** The result of one check. `why` states what was seen and, for a failure, where to look. */
export type CheckResult = {
  readonly kind: 'passed' | 'failed' | 'skipped';
  readonly why: string;
};

export const passed = (why: string): CheckResult => ({ kind: 'passed', why });
export const failed = (why: string): CheckResult => ({ kind: 'failed', why });
export const skipped = (why: string): CheckResult => ({ kind: 'skipped', why });

/**
 * One check of a stage. Its id is the same in every version, for scripts that read `accept --json` and for `--only`.
 * docs/acceptance.md lists all of them.
 */
export type Check = {
  readonly id: string;
  /** What holds if it passes, as a sentence without a full stop. */
  readonly title: string;
  /**
   * Checks of the turn `together` run at the same time. Those of `alone` follow one after another, as each changes or
   * measures something that others share. Those of `last` read what the whole run has left.
   */
  readonly turn: 'together' | 'alone' | 'last';
  /**
   * The id of a check that shows a link which this one needs too. If that check fails, this one is skipped, or stopped where it
   * waits, as it could only wait for its time to be over.
   */
  readonly dependsOn?: string;
  /** How many seconds it may take on AWS. */
  readonly seconds: (context: Pick<AcceptContext, 'settings' | 'lateTaskSeconds'>) => number;
  /** Why an emulator cannot answer it, if it cannot. The check is then skipped there. */
  readonly notOnEmulator?: string;
  /** Throws Unmet, and the SDK's errors, which count as failures. */
  readonly run: (context: AcceptContext) => Promise<CheckResult>;
};

/** The check that shows that webhooks arrive. The others that expect an extraction to end by its webhook depend on it. */
export const webhookArrives = 'outcomes-plain';
