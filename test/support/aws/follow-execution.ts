import { setTimeout as delay } from 'node:timers/promises';
import {
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  type SFNClient,
} from '@aws-sdk/client-sfn';

/** Step Functions does not push the history. */
const pollEveryMs = 100;

/** The last event of a history has one of these types. */
const endTypes = ['ExecutionSucceeded', 'ExecutionFailed', 'ExecutionAborted', 'ExecutionTimedOut'];

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

/** Waits until an execution exists and has ended, and returns its whole history. Throws `AbortError` once `signal` aborts. */
export const wholeHistory = async (
  client: SFNClient,
  arn: string,
  signal: AbortSignal,
): Promise<readonly HistoryEvent[]> => {
  for (;;) {
    const history = await historyOf(client, arn, signal);
    const end = history.findIndex(({ type = '' }) => endTypes.includes(type));
    if (end !== -1) return history.slice(0, end + 1);
    await delay(pollEveryMs, undefined, { signal });
  }
};
