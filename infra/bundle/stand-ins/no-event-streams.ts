/**
 * Stands in for `@smithy/core/event-streams` where the SDK's HTTP protocols import it at run time, for an operation
 * that streams events. None that we call does. 20 KB, and half of each client's protocol would have to be
 * loadable apart.
 */
export class EventStreamSerde {
  constructor() {
    throw new Error('This operation streams events, and the bundle has nothing for that.');
  }
}

export const eventStreamSerdeProvider = (): undefined => undefined;
