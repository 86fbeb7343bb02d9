import * as v from 'valibot';

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const id = v.pipe(v.string(), v.uuid());

/** A message of the reconcile queue, or the one that the rule for broken executions makes of its event. */
const message = v.object({ extractionId: id, cause: v.string() });

/**
 * The event that the rule matches. EventBridge documents its dead letters only as "the events"
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html), so both the event and the message are
 * accepted here.
 */
const brokenExecution = v.object({
  source: v.literal('aws.states'),
  detail: v.object({ name: id }),
});

/** The extraction of a message of the dead-letter queue, or undefined where Cosecha did not write the message. */
export const parseDeadLetter = (body: string): string | undefined => {
  const json = parseJson(body);
  if (v.is(message, json)) return json.extractionId;
  return v.is(brokenExecution, json) ? json.detail.name : undefined;
};
