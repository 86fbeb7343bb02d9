import {
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';
import { defined } from '../../../lib/defined.ts';

/** One event of an execution's history, without inputs and outputs. */
export type ExecutionEvent = {
  readonly at: string;
  /** The type of Step Functions, such as `TaskFailed`. */
  readonly type: string;
  /** Of the events that enter and leave a state. */
  readonly state?: string;
  readonly error?: string;
  readonly message?: string;
  /** Of a scheduled task: its timeout under the definition that this execution runs. */
  readonly timeoutSeconds?: number;
};

export type Execution = { readonly startedAt: string; readonly events: readonly ExecutionEvent[] };

/** The most that a page can have. */
const pageSize = 1_000;

/**
 * The message of an error that a function threw. Lambda's cause is `{errorType, errorMessage, trace}`. The functions
 * throw no secret, as their middleware replaces every error but `NotYet`. Any other cause is one sentence.
 */
const messageOf = (cause: string | undefined): string | undefined => {
  if (cause === undefined || cause === '') return undefined;
  const [, message] = /"errorMessage": ?"([^"]*)"/.exec(cause) ?? [];
  return message ?? (cause.startsWith('{') ? undefined : cause);
};

const toEvent = (event: HistoryEvent): ExecutionEvent => {
  const failure =
    event.taskFailedEventDetails ??
    event.taskTimedOutEventDetails ??
    event.taskStartFailedEventDetails ??
    event.taskSubmitFailedEventDetails;
  return defined({
    at: event.timestamp?.toISOString() ?? '',
    type: event.type ?? '',
    state: event.stateEnteredEventDetails?.name ?? event.stateExitedEventDetails?.name,
    error: failure?.error,
    message: messageOf(failure?.cause),
    timeoutSeconds: event.taskScheduledEventDetails?.timeoutInSeconds,
  }) as ExecutionEvent;
};

/**
 * The history of an execution, without the inputs and outputs of its states. Undefined where there is none: it was never
 * started, or ended more than 90 days ago. Throws the SDK's other errors.
 */
export const readExecution = async (client: SFNClient, executionArn: string) => {
  const events: ExecutionEvent[] = [];
  try {
    const request = { executionArn, includeExecutionData: false, maxResults: pageSize };
    const pages = paginateGetExecutionHistory({ client, pageSize }, request);
    for await (const page of pages) events.push(...(page.events ?? []).map(toEvent));
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
  const [first] = events;
  return first === undefined ? undefined : { startedAt: first.at, events };
};
