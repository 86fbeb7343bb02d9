/**
 * Replaces `@smithy/core/event-streams` where the SDK's HTTP protocols import it, for operations that stream events.
 * Cosecha calls none. The real one has 19 KB.
 */
export class EventStreamSerde {
  constructor() {
    throw new Error('This operation streams events, which the bundle does not support.');
  }
}

export const eventStreamSerdeProvider = (): undefined => undefined;
