import { setTimeout as delay } from 'node:timers/promises';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { dynamoBreakerStore } from '#lib/aws/dynamo-breaker-store.ts';
import { parseRateState, rateItem } from '#lib/rate-limit/rate-state.ts';
import { readItem } from '#lib/shared-item/shared-item.ts';
import type { Emulator } from '../../../tools/local/emulator/emulator.ts';

/** Its rule runs each minute. */
const ruleMs = 150_000;
const invocationMs = 60_000;

const within = async (ms: number, probe: () => Promise<boolean>, problem: string): Promise<void> => {
  for (const deadline = Date.now() + ms; !(await probe()); await delay(500)) {
    if (Date.now() > deadline) throw new Error(`${problem} Starts that wait in line would wait for ever.`);
  }
};

const dispatcherOf = async (lambda: LambdaClient) => {
  for await (const { Functions = [] } of paginateListFunctions({ client: lambda }, {})) {
    const found = Functions.find(
      ({ Environment }) => Environment?.Variables?.POWERTOOLS_SERVICE_NAME === 'dispatch-starts',
    );
    if (found !== undefined) return found;
  }
  throw new Error('The stack has no function dispatch-starts.');
};

/**
 * Fails unless the emulator runs the dispatcher in both ways that AWS does, so that no test waits in vain: by an asynchronous invocation,
 * as a start that goes in line makes it, after which it holds the lease, and by the rule, after which it counts the line.
 */
export const checkDispatcher = async (
  { client }: Pick<Emulator, 'client'>,
  breakersTable: string,
): Promise<void> => {
  const lambda = new LambdaClient(client);
  const { FunctionName = '', LoggingConfig } = await dispatcherOf(lambda);
  const store = dynamoBreakerStore(new DynamoDBClient(client), breakersTable);
  await lambda.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload: '{}' }));
  const hasLease = async (): Promise<boolean> =>
    (await readItem(store, rateItem, parseRateState, new Date())).state.lease !== undefined;
  await within(
    invocationMs,
    hasLease,
    'The emulator does not run an asynchronous invocation of dispatch-starts.',
  );

  const logs = new CloudWatchLogsClient(client);
  const logGroupName = LoggingConfig?.LogGroup ?? `/aws/lambda/${FunctionName}`;
  const hasCounted = async (): Promise<boolean> => {
    const { events = [] } = await logs.send(new FilterLogEventsCommand({ logGroupName }));
    return events.some(({ message = '' }) => message.includes('StartsInLine'));
  };
  await within(ruleMs, hasCounted, "The emulator does not run the minute's rule of dispatch-starts.");
};
