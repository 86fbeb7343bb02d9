import { consumeExtractionEvents, type PartialBatchResponse } from './consume-extraction-events.ts';
import type { StreamRecord } from './decode-extraction-event.ts';
import type { ExtractionEvent } from './extraction-event.ts';

/** The `source` of each event on EventBridge. */
export const busSource = 'cosecha';

/** Which kinds of events are published: all about an outcome, and `erased`. A new kind must be decided here. */
const published = {
  requested: false,
  progressed: false,
  settled: true,
  corrected: true,
  reopened: true,
  collected: true,
  'not-collected': true,
  advised: true,
  erasing: true,
  housekeeping: false,
  restored: true,
  erased: true,
  expired: false,
} as const satisfies Record<ExtractionEvent['kind'], boolean>;

type Published = typeof published;
export type PublishedKind = {
  [Kind in keyof Published]: Published[Kind] extends true ? Kind : never;
}[keyof Published];
export type PublishedEvent = Extract<ExtractionEvent, { readonly kind: PublishedKind }>;

const isPublished = (event: ExtractionEvent): event is PublishedEvent => published[event.kind];

export const publishedKinds = Object.keys(published).filter(
  (kind): kind is PublishedKind => published[kind as ExtractionEvent['kind']],
);

/**
 * The `detail` of an event on the bus: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md. Its `data` is what
 * `decodeExtractionEvent` returns for the record of the stream.
 */
export type ExtractionCloudEvent = {
  readonly specversion: '1.0';
  /** The `eventId`, the same in every delivery. */
  readonly id: string;
  /** The stack: `urn:cosecha:stack:Cosecha-<stage>`. */
  readonly source: string;
  /** Contains the version of the record. */
  readonly type: `cosecha.extraction.${PublishedKind}.v1`;
  /** The `extractionId`. */
  readonly subject: string;
  readonly datacontenttype: 'application/json';
  /**
   * The request's `traceparent`, if it had one:
   * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/extensions/distributed-tracing.md
   */
  readonly traceparent?: string;
  readonly data: PublishedEvent;
};

export type BusEntry = {
  readonly detailType: `extraction.${PublishedKind}`;
  readonly detail: ExtractionCloudEvent;
};

export const busEntryOf = (data: PublishedEvent, source: string): BusEntry => {
  const { kind, eventId, extractionId } = data;
  const traceparent = data.kind === 'erased' ? undefined : data.extraction.traceparent;
  const detail: ExtractionCloudEvent = {
    specversion: '1.0',
    id: eventId,
    source,
    type: `cosecha.extraction.${kind}.v1`,
    subject: extractionId,
    datacontenttype: 'application/json',
    ...(traceparent === undefined ? {} : { traceparent }),
    data,
  };
  return { detailType: `extraction.${kind}`, detail };
};

/**
 * Puts the outcomes of a batch of the stream on the bus, one by one. So if the bus refuses an entry, only its own record fails. EventBridge
 * bills entries, not calls. Returns what `consumeExtractionEvents` returns.
 *
 * @throws RecordNotOurs, or what `put` throws
 */
export const publishEvents = (
  batch: { readonly Records: readonly StreamRecord[] },
  { source, put }: { readonly source: string; readonly put: (entry: BusEntry) => Promise<void> },
): Promise<PartialBatchResponse> =>
  consumeExtractionEvents(batch, async (event) => {
    if (isPublished(event)) await put(busEntryOf(event, source));
  });
