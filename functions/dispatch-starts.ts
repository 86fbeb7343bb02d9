import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import type { Context } from 'aws-lambda';
import { countInLine, dynamoStartLine } from '../lib/aws/dynamo-start-line.ts';
import { wakeMachine } from '../lib/aws/step-functions.ts';
import { patientClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { breakersFromEnvironment } from '../lib/aws/wiring/breaker-from-environment.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import { rateSettingsFromEnvironment } from '../lib/aws/wiring/start-line-from-environment.ts';
import { backgroundHandler } from '../lib/observability/background-handler.ts';
import { publishNow, telemetry } from '../lib/observability/powertools-telemetry.ts';
import { type DispatchResult, dispatchStarts } from '../lib/rate-limit/dispatch-starts.ts';

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const machine = new SFNClient(patientClient);
const table = requiredVariable('START_LINE_TABLE');
const breakers = breakersFromEnvironment(database, now);
const { isPaused, limit } = rateSettingsFromEnvironment(breakers);
const wake = wakeMachine(machine);

const deps = {
  store: breakers.store,
  permits: breakers.permits,
  line: dynamoStartLine(database, table),
  isPaused,
  limit,
  // Whatever it answers, nobody waits with this token any more.
  release: async ({ callbackToken, extractionId }: { callbackToken: string; extractionId: string }) => {
    await wake(callbackToken, extractionId);
  },
  wait: (milliseconds: number): Promise<void> => wait(milliseconds),
  now,
  newId: randomUUID,
  telemetry,
};

/** By the schedule each minute, and by a start that found no dispatcher when it went into the line. */
type Invocation = { readonly trigger?: 'schedule' };

/** Counts the line after it has dispatched, so that the count delays no start. */
const dispatch = async ({ trigger }: Invocation, context: Context): Promise<DispatchResult> => {
  const isScheduled = trigger === 'schedule';
  const remainingMs = () => context.getRemainingTimeInMillis();
  const result = await dispatchStarts({ ...deps, remainingMs, isScheduled, publish: publishNow });
  if (isScheduled) telemetry.count('StartsInLine', { value: await countInLine(database, table) });
  return result;
};

export const handler = backgroundHandler(dispatch);
