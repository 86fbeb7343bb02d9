import { id, iso, timings } from '#support/data/extraction-fixtures.ts';
import type {
  Execution,
  ExecutionEvent,
  LogLine,
  StorySettings,
  StorySources,
  TaskFacts,
} from '#tools/cli/explain/sources.ts';

export const settings: StorySettings = {
  timings,
  webhookWait: 600,
  startRetry: { first: 2, every: 60, backoff: 2 },
  poll: { first: 5, every: 120, backoff: 2 },
};

/** What sources know, or how they answer. */
export type KnownValues = {
  readonly [Name in keyof StorySources]?: StorySources[Name] | Awaited<ReturnType<StorySources[Name]>>;
};

const nothing: StorySources = {
  settings: async () => settings,
  record: async () => undefined,
  task: async () => undefined,
  execution: async () => undefined,
  logs: async () => ({ items: [], complete: true }),
  deliveries: async () => ({ items: [], complete: true }),
  holds: async () => [],
  place: async () => undefined,
  line: async () => ({ lanes: [] }),
  sweep: async () => ({ enabled: true, everyMinutes: 5 }),
};

/** Sources of which every one can be read and knows nothing, but for the given ones. */
export const sourcesWith = (known: KnownValues = {}): StorySources => {
  const answer = (value: unknown) => (typeof value === 'function' ? value : async () => value);
  const answers = Object.entries(known).map(([name, value]) => [name, answer(value)]);
  return { ...nothing, ...Object.fromEntries(answers) };
};

/** An event of a history, so many seconds after the request. */
export const event = (seconds: number, type: string, rest: Partial<ExecutionEvent> = {}): ExecutionEvent => ({
  at: iso(seconds),
  type,
  ...rest,
});

export const failed = (seconds: number, error: string, message?: string): ExecutionEvent =>
  event(seconds, 'TaskFailed', message === undefined ? { error } : { error, message });

/** An execution in StartTask, whose first try was scheduled at second 1. */
export const inStartTask = (...more: readonly ExecutionEvent[]): Execution => ({
  startedAt: iso(0.1),
  events: [
    event(0.1, 'ExecutionStarted'),
    event(0.2, 'TaskStateEntered', { state: 'StartTask' }),
    event(1, 'TaskScheduled'),
    ...more,
  ],
});

/** The same, which has to wait for the provider's rate from second 3 on. */
export const inLine = (...more: readonly ExecutionEvent[]): Execution =>
  inStartTask(
    failed(2, 'Waits', 'http-429'),
    event(2, 'TaskStateExited', { state: 'StartTask' }),
    event(3, 'TaskStateEntered', { state: 'InLine' }),
    event(3, 'TaskScheduled'),
    ...more,
  );

/** The same, whose wait for the webhook ended at second 601, so that it polls. */
export const inReconcile = (...more: readonly ExecutionEvent[]): Execution =>
  inStartTask(
    event(601, 'TaskTimedOut', { error: 'States.Timeout' }),
    event(601, 'TaskStateExited', { state: 'StartTask' }),
    event(601, 'TaskStateEntered', { state: 'Reconcile' }),
    event(601, 'TaskScheduled'),
    ...more,
  );

export const linkedTask = (fields: Partial<TaskFacts> = {}): TaskFacts => ({
  taskId: 'task-1',
  extractionId: id,
  callbackAttempt: 0,
  ...fields,
});

export const logLine = (
  seconds: number,
  service: string,
  message: string,
  fields: LogLine['fields'] = {},
): LogLine => ({
  at: iso(seconds),
  service,
  level: fields.failure === undefined ? 'INFO' : 'ERROR',
  message,
  fields: { extractionId: id, ...fields },
});

export const bounded = <Item>(...items: readonly Item[]) => ({ items, complete: true });
