import { busEvent } from '../../infra/constructs/stream/bus-event.ts';
import type { Schema } from './schema.ts';

const text: Schema = { type: 'string', minLength: 1 };

/** The kinds that the patterns of the pipe let through: records of extractions that have an outcome, or had one. */
export const kindsOnTheBus = [
  'settled',
  'corrected',
  'reopened',
  'collected',
  'not-collected',
  'housekeeping',
  'restored',
] as const;

/** The CloudEvent in `detail`: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md */
const cloudEvent: Schema = {
  type: 'object',
  required: ['specversion', 'id', 'source', 'type', 'subject', 'datacontenttype', 'data'],
  properties: {
    specversion: { const: '1.0' },
    id: { ...text, description: 'The eventID of the record, the same in every delivery.' },
    source: { ...text, description: 'The stack.', pattern: '^urn:cosecha:stack:' },
    type: { const: busEvent.type },
    subject: { ...text, description: 'The extractionId.' },
    datacontenttype: { const: 'application/json' },
    traceparent: {
      type: 'string',
      description:
        'That of the request, for a consumer to continue its trace. Ignore any that is not valid, such as an empty one.',
    },
    data: {
      description: 'The record of the stream, unchanged.',
      anyOf: kindsOnTheBus.map((kind) => ({ $ref: `stream-record.json#/$defs/${kind}` })),
    },
  },
};

/** The schema of an event as a target of the bus receives it, in the envelope of EventBridge. */
export const busEventSchema: Schema = {
  title: 'Event on the bus',
  type: 'object',
  required: ['version', 'id', 'detail-type', 'source', 'account', 'time', 'region', 'resources', 'detail'],
  properties: {
    version: { const: '0' },
    id: { ...text, description: 'The id of this delivery to the bus. `detail.id` identifies the change.' },
    'detail-type': { const: busEvent.detailType },
    source: { const: busEvent.source },
    account: { type: 'string', pattern: '^\\d{12}$' },
    time: text,
    region: text,
    resources: { type: 'array', items: { type: 'string' } },
    detail: cloudEvent,
  },
};
