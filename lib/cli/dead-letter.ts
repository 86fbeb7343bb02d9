import * as v from 'valibot';

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const id = v.pipe(v.string(), v.uuid());

/** What sweep-extractions is invoked with by the schedule, and reconcile-extraction by the rule and by operators. */
const invocation = v.variant('trigger', [
  v.object({ trigger: v.literal('sweep') }),
  v.object({ trigger: v.picklist(['execution-broken', 'operator']), extractionId: id }),
]);

/** Lambda's on-failure destination: https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html */
const invocationRecord = v.object({ requestPayload: invocation });

/**
 * The events that the two rules match. EventBridge says of its dead letters only that they are "the events"
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html), so both the event and what the rule
 * makes of it are known here.
 */
const brokenExecution = v.object({
  source: v.literal('aws.states'),
  detail: v.object({ name: id }),
});
const schedule = v.object({ source: v.literal('aws.events'), 'detail-type': v.literal('Scheduled Event') });

/** What was to be done: a sweep, or a look at one extraction. */
export type Work =
  | { readonly trigger: 'sweep' }
  | { readonly trigger: 'operator'; readonly extractionId: string };

type Failed = v.InferOutput<typeof invocation>;

const failedIn = (json: unknown): Failed | undefined => {
  const record = v.safeParse(invocationRecord, json);
  if (record.success) return record.output.requestPayload;
  const direct = v.safeParse(invocation, json);
  if (direct.success) return direct.output;
  const broken = v.safeParse(brokenExecution, json);
  if (broken.success) return { trigger: 'execution-broken', extractionId: broken.output.detail.name };
  return v.is(schedule, json) ? { trigger: 'sweep' } : undefined;
};

/**
 * What to do again for a message of the dead-letter queue, or undefined for one that is not ours. An execution that
 * was broken then may have been redriven since, and its start may be going on; so it is looked at as an operator
 * would, which gives up nothing that the sweep would not.
 */
export const workOf = (body: string): Work | undefined => {
  const failed = failedIn(parseJson(body));
  if (failed === undefined || failed.trigger === 'sweep') return failed;
  return { trigger: 'operator', extractionId: failed.extractionId };
};
