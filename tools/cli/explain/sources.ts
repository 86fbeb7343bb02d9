import type { Line } from '../../../lib/extraction/api/expected-start.ts';
import type { Timings } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Task } from '../../../lib/extraction/store.ts';
import type { LineEntry } from '../../../lib/rate-limit/start-line.ts';
import type { Bounded } from '../aws/deployment.ts';
import type { CheckedDelivery } from '../aws/read-deliveries.ts';
import type { Execution, ExecutionEvent } from '../aws/read-execution.ts';
import type { LogLine, Period } from '../aws/read-log-lines.ts';
import type { MachineSettings, RetryDelays } from '../aws/read-machine-settings.ts';
import type { Hold } from '../terminal/describe-hold.ts';

export type { Bounded, Execution, ExecutionEvent, Hold, LogLine, Period, RetryDelays };

/** The settings that decide what happens next. All in seconds. */
export type StorySettings = MachineSettings & { readonly timings: Timings };

/** The item of `Tasks` without the callback token, which may not leave the table. */
export type TaskFacts = Omit<Task, 'callbackToken'>;

/** The item of `StartLine`. `isWaiting`: its execution waits to be released. */
export type PlaceFacts = Pick<LineEntry, 'requestId' | 'waitingSince' | 'waitedMs'> & {
  readonly isWaiting: boolean;
};

export type Sweep = { readonly enabled: boolean; readonly everyMinutes: number };

/**
 * The sources that each have a part of a story. A method throws if its source cannot be read, for example because a
 * permission is missing. The story then names that part and shows the rest.
 */
export interface StorySources {
  settings(): Promise<StorySettings>;
  record(extractionId: string): Promise<Extraction | undefined>;
  task(taskId: string): Promise<TaskFacts | undefined>;
  execution(extractionId: string): Promise<Execution | undefined>;
  /** Lines with one of the ids. */
  logs(ids: readonly string[], within: Period): Promise<Bounded<LogLine>>;
  /** Deliveries of any task whose signature was compared with our keys. */
  deliveries(within: Period): Promise<Bounded<CheckedDelivery>>;
  holds(): Promise<readonly Hold[]>;
  sweep(): Promise<Sweep>;
  /** Its own item in the line. Read only for one that is not started. */
  place(extractionId: string): Promise<PlaceFacts | undefined>;
  /** Who waits for the provider's rate. Read only for one that waits. */
  line(): Promise<Line>;
}
