import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { putEventOn } from '../lib/aws/put-event.ts';
import { patientClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import { publishEvents } from '../lib/downstream/publish-events.ts';
import { backgroundHandler } from '../lib/observability/background-handler.ts';

const deps = {
  source: requiredVariable('EVENT_SOURCE'),
  put: putEventOn(new EventBridgeClient(patientClient), requiredVariable('EVENT_BUS')),
};

export const handler = backgroundHandler((batch: DynamoDBStreamEvent) => publishEvents(batch, deps));
