import { setTimeout as delay } from 'node:timers/promises';
import {
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';

export type { HistoryEvent };

/** Step Functions pushes no history. */
const pollEveryMs = 100;

/** How an execution's history ends. */
const endTypes = ['ExecutionSucceeded', 'ExecutionFailed', 'ExecutionAborted', 'ExecutionTimedOut'];

/** Whether the history is complete with this event. */
export const isEnd = (event: HistoryEvent): boolean => endTypes.includes(event.type ?? '');

/** Each state entered is one transition: what AWS bills. */
export const isTransition = (event: HistoryEvent): boolean => event.type?.endsWith('StateEntered') ?? false;

/**
 * The events of an execution's history as they come, the last one included; waits for the execution to exist. Throws
 * `AbortError` once `signal` aborts.
 */
export const followExecution = async function* (
  client: SFNClient,
  arn: string,
  signal: AbortSignal,
): AsyncGenerator<HistoryEvent, void> {
  let seen = 0;
  for (;;) {
    const events = await historyOf(client, arn, signal);
    for (const event of events.slice(seen)) {
      yield event;
      if (isEnd(event)) return;
    }
    seen = events.length;
    await delay(pollEveryMs, undefined, { signal });
  }
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
