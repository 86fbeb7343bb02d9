import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import * as v from 'valibot';
import { type EstimateStart, startEstimates } from '../../extraction/api/start-estimates.ts';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import { createStartLimiter, type StartLimiter } from '../../rate-limit/start-limiter.ts';
import type { StartLineStore } from '../../rate-limit/start-line.ts';
import { dynamoStartLine, readPlaces } from '../dynamo-start-line.ts';
import type { BreakersOfProcess } from './breaker-from-environment.ts';
import { requiredVariable } from './environment.ts';

/** The variable `RATE`, with the setting startsPerSecond. */
const rateSchema = v.strictObject({ perSecond: v.optional(v.number()) });

const rateSettings = () => v.parse(rateSchema, JSON.parse(requiredVariable('RATE')));

/**
 * Whether starts are paused, and the rate set by hand or else by the setting. Throws SyntaxError or ValiError if the variable `RATE` is
 * malformed.
 */
export const rateSettingsFromEnvironment = ({ operator }: BreakersOfProcess) => {
  const { perSecond } = rateSettings();
  return {
    isPaused: () => operator.isPaused('starts'),
    limit: async () => (await operator.ratePerSecond()) ?? perSecond,
  };
};

/** The line that all processes share, and the limiter of start-task. */
export const startLineFromEnvironment = (
  database: DynamoDBClient,
  functions: LambdaClient,
  breakers: BreakersOfProcess,
): { readonly limiter: StartLimiter; readonly line: StartLineStore } => {
  const line = dynamoStartLine(database, requiredVariable('START_LINE_TABLE'));
  const { store, permits, now } = breakers;
  const FunctionName = requiredVariable('DISPATCHER_NAME');
  const { limit } = rateSettingsFromEnvironment(breakers);
  const limiter = createStartLimiter({
    store,
    permits,
    line,
    limit,
    // Does not wait for its end (https://docs.aws.amazon.com/lambda/latest/dg/invocation-async.html).
    invokeDispatcher: async () => {
      await functions.send(new InvokeCommand({ FunctionName, InvocationType: 'Event' }));
    },
    now,
    newVersion: randomUUID,
    telemetry,
  });
  return { limiter, line };
};

/** No estimate is made for a line longer than some 13,000. */
const maxPages = 15;

/** Estimates when starts in line will be made. */
export const startEstimatesFromEnvironment = (
  database: DynamoDBClient,
  breakers: BreakersOfProcess,
): EstimateStart => {
  const { store, now } = breakers;
  const table = requiredVariable('START_LINE_TABLE');
  const { isPaused, limit } = rateSettingsFromEnvironment(breakers);
  return startEstimates({
    store,
    readLine: () => readPlaces(database, table, maxPages),
    isPaused,
    limit,
    now,
    telemetry,
  });
};
