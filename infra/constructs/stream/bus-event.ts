/** How the bus names the events. */
export const busEvent = {
  source: 'cosecha',
  detailType: 'Extraction changed',
  /** The `type` of the CloudEvent. It names the version of the record. */
  type: 'cosecha.extraction.changed.v1',
} as const;

/**
 * The input template of the pipe, which makes a CloudEvent of a record. Variables in angle brackets are filled in by the
 * pipe: a quoted one becomes text, and `aws.pipes.event.json` the whole record
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-input-transformation.html). There is no `time`,
 * because the record has it as a number and a CloudEvent needs it as text; the envelope of EventBridge has one.
 * AWS documents no way to leave an attribute out, nor what a pipe writes for a path that is not there. So `traceparent` may be an empty
 * text, which a consumer ignores as it ignores each invalid one (https://www.w3.org/TR/trace-context-1/#traceparent-header-field-values).
 */
export const cloudEventTemplate = (stackName: string): string => {
  const attributes = {
    specversion: '1.0',
    id: '<$.eventID>',
    source: `urn:cosecha:stack:${stackName}`,
    type: busEvent.type,
    subject: '<$.dynamodb.Keys.extractionId.S>',
    datacontenttype: 'application/json',
    // https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/extensions/distributed-tracing.md
    traceparent: '<$.dynamodb.NewImage.traceparent.S>',
  };
  return JSON.stringify({ ...attributes, data: '<record>' }).replace('"<record>"', '<aws.pipes.event.json>');
};
