import type { ExtractionEvent } from '../../lib/downstream/extraction-event.ts';
import { busSource, type PublishedKind, publishedKinds } from '../../lib/downstream/publish-events.ts';
import type { Schema } from './json-schema-type.ts';
import { kinds } from './stream-record-schema.ts';

const text: Schema = { type: 'string', minLength: 1 };
const status = (description: string): Schema => ({ ...text, description });

const from = status('The status before. Later versions may add some.');
const to = { to: status('The status now, which is no outcome.') };
const outcome = { outcome: status('The status now, which is an outcome.') };

/** The fields that not every kind has. The type checks their names. */
const fields: {
  readonly [Kind in ExtractionEvent['kind']]: {
    readonly [Field in Exclude<
      keyof Extract<ExtractionEvent, { readonly kind: Kind }>,
      'kind' | 'extractionId' | 'eventId' | 'sequenceNumber' | 'extraction'
    >]: Schema;
  };
} = {
  requested: {},
  progressed: { from, ...to },
  settled: { from, ...outcome },
  corrected: { from, ...outcome },
  reopened: { from, ...to },
  collected: {},
  'not-collected': { collectionError: status('Why the results will not be stored.') },
  advised: {},
  erasing: {},
  housekeeping: {},
  restored: {},
  erased: {},
  expired: {},
};

const extraction: Schema = { description: 'The record after the change.', $ref: 'extraction.json' };

const eventOf = (kind: ExtractionEvent['kind']): Schema => {
  const isRemoval = kind === 'erased' || kind === 'expired';
  const properties: Readonly<Record<string, Schema>> = {
    kind: { const: kind },
    extractionId: text,
    eventId: { ...text, description: 'The same in every delivery of the change.' },
    sequenceNumber: {
      description: 'Orders the changes of one extraction. It has too many digits for a 64-bit number.',
      type: 'string',
      pattern: '^\\d+$',
    },
    ...(isRemoval ? {} : { extraction }),
    ...fields[kind],
  };
  const { description = '' } = kinds[kind];
  return { description, type: 'object', required: Object.keys(properties), properties };
};

/** What every event has. A consumer ignores a kind that it does not know (docs/stream.md, "Guarantees"). */
const laterKind: Schema = {
  description: 'A kind that a later version adds.',
  type: 'object',
  required: ['kind', 'extractionId', 'eventId', 'sequenceNumber'],
  properties: { kind: { type: 'string', not: { enum: Object.keys(kinds) } } },
};

/** The schema of an event as `cosecha listen` posts it, and as `decodeExtractionEvent` returns it. */
export const eventSchema: Schema = {
  title: 'Event of an extraction',
  anyOf: [...Object.keys(kinds).map((kind) => ({ $ref: `#/$defs/${kind}` })), laterKind],
  $defs: Object.fromEntries(
    Object.keys(kinds).map((kind) => [kind, eventOf(kind as ExtractionEvent['kind'])]),
  ),
};

/** The event of one kind as a target of the bus receives it, in the envelope of EventBridge. */
const busEventOf = (kind: PublishedKind): Schema => ({
  description: kinds[kind].description ?? '',
  $ref: '#/$defs/Envelope',
  properties: {
    'detail-type': { const: `extraction.${kind}` },
    detail: {
      $ref: '#/$defs/CloudEvent',
      properties: {
        type: { const: `cosecha.extraction.${kind}.v1` },
        data: { description: 'The decoded record of the stream.', $ref: `event.json#/$defs/${kind}` },
      },
    },
  },
});

/** In `detail`: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md */
const cloudEvent: Schema = {
  type: 'object',
  required: ['specversion', 'id', 'source', 'type', 'subject', 'datacontenttype', 'data'],
  properties: {
    specversion: { const: '1.0' },
    id: { ...text, description: 'The eventId, the same in every delivery.' },
    source: { ...text, description: 'The stack.', pattern: '^urn:cosecha:stack:' },
    type: text,
    subject: { ...text, description: 'The extractionId.' },
    datacontenttype: { const: 'application/json' },
    traceparent: {
      ...text,
      description:
        'That of the request, if it had one, for a consumer to continue its trace. Ignore any that is not valid.',
    },
    data: { type: 'object' },
  },
};

const envelope: Schema = {
  type: 'object',
  required: ['version', 'id', 'detail-type', 'source', 'account', 'time', 'region', 'resources', 'detail'],
  properties: {
    version: { const: '0' },
    id: { ...text, description: 'The id of this delivery to the bus. `detail.id` identifies the change.' },
    'detail-type': text,
    source: { const: busSource },
    account: { type: 'string', pattern: '^\\d{12}$' },
    time: text,
    region: text,
    resources: { type: 'array', items: { type: 'string' } },
    detail: { type: 'object' },
  },
};

/** The schema of an event on the bus, with one definition for each kind. */
export const busEventSchema: Schema = {
  title: 'Event on the bus',
  anyOf: publishedKinds.map((kind) => ({ $ref: `#/$defs/${kind}` })),
  $defs: {
    ...Object.fromEntries(publishedKinds.map((kind) => [kind, busEventOf(kind)])),
    Envelope: envelope,
    CloudEvent: cloudEvent,
  },
};
