import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type BusEntry, busSource } from '../downstream/publish-events.ts';

/** The bus refused an event. `code` is EventBridge's error code. Nothing else of its answer is kept. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
  readonly code: string;

  constructor(code: string) {
    super(`The bus refused an event: ${code}.`);
    this.code = code;
  }
}

/**
 * Puts an event on a bus. EventBridge answers 200 even if it refuses an entry
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html), and the SDK retries only whole calls.
 *
 * @throws EventRefused
 */
export const putEventOn =
  (client: EventBridgeClient, eventBusName: string) =>
  async ({ detailType, detail }: BusEntry): Promise<void> => {
    const entry = {
      EventBusName: eventBusName,
      Source: busSource,
      DetailType: detailType,
      Detail: JSON.stringify(detail),
    };
    const { Entries: [answer] = [] } = await client.send(new PutEventsCommand({ Entries: [entry] }));
    if (answer?.EventId === undefined) throw new EventRefused(answer?.ErrorCode ?? 'no EventId');
  };
