import type { ClientConfig, Deployment } from '../../cli/aws/deployment.ts';
import type { ReconcileSettings } from '../../cli/aws/read-reconcile-settings.ts';
import type { AcceptApi } from './api.ts';
import type { FakeProvider } from './fake-provider.ts';
import type { Inbox } from './inbox.ts';
import type { StackParts } from './stack-parts.ts';

/** What a check gets. All checks of a run share it, except `signal` and `waitFor`. */
export type AcceptContext = {
  readonly deployment: Deployment;
  /** The same as `deployment.client`. */
  readonly client: ClientConfig;
  /** The settings that the stage was deployed with. */
  readonly settings: ReconcileSettings;
  readonly stack: StackParts;
  readonly fakeProvider: FakeProvider;
  readonly api: AcceptApi;
  /** The queue that this output of the fake provider's stack names, or undefined where it does not have it. */
  readonly inbox: (output: string) => Inbox | undefined;
  /** After how many seconds the task ends that has to time out before. */
  readonly lateTaskSeconds: number;
  /** When the run began. */
  readonly startedAt: Date;
  readonly now: () => Date;
  readonly randomId: () => string;
  /** Aborts when the time of this check is over, or on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Waits. Rejects with AbortError when `signal` aborts. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Reports what this check waits for, for the progress and for the failure if its time is over. */
  readonly waitFor: (what: string) => void;
};
