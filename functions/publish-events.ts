import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import middy from '@middy/core';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { putEventOn } from '../lib/aws/put-event.ts';
import { patientClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import type { PartialBatchResponse } from '../lib/downstream/consume-extraction-events.ts';
import { publishEvents } from '../lib/downstream/publish-events.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { endAtTimeout, observability } from '../lib/observability/powertools-telemetry.ts';

const deps = {
  source: requiredVariable('EVENT_SOURCE'),
  put: putEventOn(new EventBridgeClient(patientClient), requiredVariable('EVENT_BUS')),
};

export const handler = middy<DynamoDBStreamEvent, PartialBatchResponse>(endAtTimeout)
  .use(observability())
  .use(concealFailures())
  .handler((batch) => publishEvents(batch, deps));
