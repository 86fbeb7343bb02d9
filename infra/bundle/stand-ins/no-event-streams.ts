/**
 * Stands in for `@smithy/core/event-streams` where the SDK's HTTP protocols import it, which they do only for an
 * operation that streams events, and we call none. 19 KB.
 */
export class EventStreamSerde {
  constructor() {
    throw new Error('This operation streams events, and the bundle has nothing for that.');
  }
}

export const eventStreamSerdeProvider = (): undefined => undefined;
