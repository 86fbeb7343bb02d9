/** @module-tag slow */

import { CreateEventBusCommand, EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { decodeExtractionEvent } from '@cosecha/cosecha';
import { expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { read } from '../unit/docs/pages.ts';
import { deployApp } from './support/deploy-app.ts';

const { client } = inject('cosecha');

test('the stack of a container receives an event of the bus, which the package decodes', async () => {
  const eventBusName = 'e2e-container-outcomes';
  const bus = new EventBridgeClient(client);
  await bus.send(new CreateEventBusCommand({ Name: eventBusName }));
  const context = [`eventBusName=${eventBusName}`];
  const { QueueUrl } = await deployApp('e2e-container', { file: 'examples/container/app.ts', context });
  const event = JSON.parse(read('docs/events/bus/settled.json'));
  const entry = { EventBusName: eventBusName, Source: event.source, DetailType: event['detail-type'] };
  const { FailedEntryCount } = await bus.send(
    new PutEventsCommand({ Entries: [{ ...entry, Detail: JSON.stringify(event.detail) }] }),
  );
  expect(FailedEntryCount).toBe(0);
  const queue = new SQSClient(client);
  const body = await eventually(async () => {
    const { Messages = [] } = await queue.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(Messages).toHaveLength(1);
    return Messages[0]?.Body ?? '';
  });
  expect(decodeExtractionEvent(JSON.parse(body))).toEqual(event.detail.data);
});
