import * as v from 'valibot';

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const id = v.pipe(v.string(), v.uuid());

/** What the schedule invokes sweep-extractions with, and the rule and operators reconcile-extraction. */
const invocation = v.variant('trigger', [
  v.object({ trigger: v.literal('sweep') }),
  v.object({ trigger: v.picklist(['execution-broken', 'operator']), extractionId: id }),
]);

/** Lambda's on-failure destination: https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html */
const invocationRecord = v.object({ requestPayload: invocation });

/**
 * The events that the two rules match. EventBridge documents its dead letters only as "the events"
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html), so both the event and the input that the
 * rule makes of it are accepted here.
 */
const brokenExecution = v.object({
  source: v.literal('aws.states'),
  detail: v.object({ name: id }),
});
const schedule = v.object({ source: v.literal('aws.events'), 'detail-type': v.literal('Scheduled Event') });

/** The work that a message asks for: a sweep, or the reconciliation of one extraction. */
export type Work =
  | { readonly trigger: 'sweep' }
  | { readonly trigger: 'operator'; readonly extractionId: string };

type Invocation = v.InferOutput<typeof invocation>;

const failedInvocation = (json: unknown): Invocation | undefined => {
  const record = v.safeParse(invocationRecord, json);
  if (record.success) return record.output.requestPayload;
  const input = v.safeParse(invocation, json);
  if (input.success) return input.output;
  const broken = v.safeParse(brokenExecution, json);
  if (broken.success) return { trigger: 'execution-broken', extractionId: broken.output.detail.name };
  return v.is(schedule, json) ? { trigger: 'sweep' } : undefined;
};

/**
 * The work to repeat for a message of the dead-letter queue, or undefined where Cosecha did not write the message. A
 * broken execution may have been redriven since, and its start may still run. So it is reconciled as an operator's
 * request, which abandons nothing that the sweep would not.
 */
export const parseDeadLetter = (body: string): Work | undefined => {
  const failed = failedInvocation(parseJson(body));
  if (failed === undefined || failed.trigger === 'sweep') return failed;
  return { trigger: 'operator', extractionId: failed.extractionId };
};
