import middy from '@middy/core';
import { starterFromEnvironment } from '../lib/aws/wiring/starter-from-environment.ts';
import type { StartInput } from '../lib/extraction/start/start.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { endAtTimeout, observability, telemetry } from '../lib/observability/powertools-telemetry.ts';

const startOne = starterFromEnvironment(() => new Date());

const startTaskHandler = async (input: StartInput): Promise<void> => {
  telemetry.about({ extractionId: input.extractionId });
  await startOne(input);
};

export const handler = middy<StartInput, void>(endAtTimeout)
  .use(observability())
  .use(concealFailures())
  .handler(startTaskHandler);
