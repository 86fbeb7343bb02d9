import { setTimeout as delay } from 'node:timers/promises';
import {
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';

export type { HistoryEvent };

/** Step Functions does not push the history. */
const pollEveryMs = 100;

/** The last event of a history has one of these types. */
const endTypes = ['ExecutionSucceeded', 'ExecutionFailed', 'ExecutionAborted', 'ExecutionTimedOut'];

/** Whether this is the last event of the history. */
export const isEnd = (event: HistoryEvent): boolean => endTypes.includes(event.type ?? '');

/** Whether the event is a state transition, which AWS bills. */
export const isTransition = (event: HistoryEvent): boolean => event.type?.endsWith('StateEntered') ?? false;

/**
 * Waits until the execution exists, and yields the events of its history since a time, up to the last one. Throws
 * `AbortError` once `signal` aborts.
 */
export const followExecution = async function* (
  client: SFNClient,
  arn: string,
  signal: AbortSignal,
  since = new Date(0),
): AsyncGenerator<HistoryEvent, void> {
  let seen = 0;
  for (;;) {
    const events = await historyOf(client, arn, signal);
    for (const event of events.slice(seen)) {
      if (event.timestamp === undefined || event.timestamp >= since) yield event;
      if (isEnd(event)) return;
    }
    seen = events.length;
    await delay(pollEveryMs, undefined, { signal });
  }
};

/** Waits until an execution has ended, and returns its whole history. */
export const wholeHistory = async (
  client: SFNClient,
  arn: string,
  signal: AbortSignal,
): Promise<readonly HistoryEvent[]> => {
  const history: HistoryEvent[] = [];
  for await (const event of followExecution(client, arn, signal)) history.push(event);
  return history;
};

const historyOf = async (
  client: SFNClient,
  executionArn: string,
  signal: AbortSignal,
): Promise<HistoryEvent[]> => {
  const events: HistoryEvent[] = [];
  try {
    const pages = paginateGetExecutionHistory({ client }, { executionArn }, { abortSignal: signal });
    for await (const { events: page = [] } of pages) events.push(...page);
  } catch (error) {
    if (!(error instanceof ExecutionDoesNotExist)) throw error;
  }
  return events;
};
