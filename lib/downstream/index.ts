/** A service that reads the stream of extractions imports this as `@cosecha/cosecha`. It contains no AWS client. */
export {
  consumeExtractionEvents,
  type PartialBatchResponse,
  RecordNotOurs,
} from './consume-extraction-events.ts';
export { decodeExtractionEvent, type EncodedEvent, type StreamRecord } from './decode-extraction-event.ts';
export type { Advice, ExtractionEvent, ExtractionSnapshot, NotOurs, Status } from './extraction-event.ts';
export type { ExtractionCloudEvent, PublishedEvent, PublishedKind } from './publish-events.ts';
export { type UserText, userTextOf, userTexts } from './user-texts.ts';
