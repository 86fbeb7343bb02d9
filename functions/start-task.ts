import middy from '@middy/core';
import { starterFromEnvironment } from '../lib/aws/wiring/starter.ts';
import type { ExecutionInput } from '../lib/extraction/api/request-extraction.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { endAtTimeout, observability, telemetry } from '../lib/observability/observability.ts';

/** The payload of the state StartTask: the execution's input, the callback token and the number of the attempt. */
type StartTaskEvent = ExecutionInput & { readonly callbackToken: string; readonly callbackAttempt: number };

const startOne = starterFromEnvironment(() => new Date());

const startTaskHandler = async (event: StartTaskEvent): Promise<void> => {
  const { extractionId, requestId, callbackToken, callbackAttempt } = event;
  telemetry.about({ extractionId });
  await startOne({ extractionId, requestId, callbackToken, callbackAttempt });
};

export const handler = middy<StartTaskEvent, void>(endAtTimeout)
  .use(observability())
  .use(concealFailures())
  .handler(startTaskHandler);
