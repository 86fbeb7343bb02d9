import * as v from 'valibot';
import { ACTION_ERROR_CODES, ACTION_IDS, TERMINAL_STATUSES } from './task-vocabulary.ts';

/**
 * How the sandbox is told to misbehave. The schemas are strict, so that a plan with a misspelt field is refused
 * instead of quietly doing nothing. docs/sandbox.md describes every field.
 */

const milliseconds = v.pipe(v.number(), v.integer(), v.minValue(0));
const attempts = v.pipe(v.number(), v.integer(), v.minValue(1));
/** What a Response can carry; 1xx are not final answers. */
const httpStatus = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599));

const answer = {
  status: httpStatus,
  /** A string is sent as it is, anything else as JSON; left out: a JSON body with a message. */
  body: v.exactOptional(v.unknown()),
  headers: v.exactOptional(v.record(v.string(), v.string())),
};
const plannedAnswer = v.strictObject({ kind: v.literal('answer'), ...answer });
const silence = v.strictObject({ kind: v.literal('silence') });
const expireSession = v.strictObject({ kind: v.literal('expire-session') });

/** How a call can be treated whatever it asks for. */
export const CallBehaviourSchema = v.variant('kind', [
  plannedAnswer,
  silence,
  v.strictObject({ kind: v.literal('reset') }),
  v.strictObject({ kind: v.literal('trickle'), body: v.exactOptional(v.unknown()) }),
]);

export const FaultSchema = v.strictObject({
  method: v.exactOptional(v.string()),
  /** Exact, or the beginning of a path and `*`. */
  path: v.string(),
  /** One per call that fits. */
  behaviours: v.array(CallBehaviourSchema),
});

export const StartBehaviourSchema = v.variant('kind', [
  plannedAnswer,
  silence,
  expireSession,
  v.strictObject({ kind: v.literal('accept') }),
  v.strictObject({ ...answer, kind: v.literal('accept-then-answer') }),
  v.strictObject({ kind: v.literal('accept-then-silence') }),
  v.strictObject({ kind: v.literal('reset'), taken: v.exactOptional(v.boolean()) }),
  v.strictObject({ kind: v.literal('slow'), delayMs: milliseconds }),
  v.strictObject({ kind: v.literal('finish-first'), answerAfterDeliveries: v.exactOptional(attempts) }),
  v.strictObject({ kind: v.literal('trickle') }),
]);

export const ReadBehaviourSchema = v.variant('kind', [
  plannedAnswer,
  silence,
  expireSession,
  v.strictObject({ kind: v.literal('reset') }),
  v.strictObject({ kind: v.literal('status'), taskStatus: v.string() }),
  v.strictObject({ kind: v.literal('big'), bytes: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
]);

const modeSchema = v.picklist(['plain', 'encrypted']);

const deliveryShape = {
  mode: v.exactOptional(modeSchema),
  /** Sent as `taskStatus`, whatever the task's own is. Any string, also one that the document does not know. */
  statusOverride: v.exactOptional(v.string()),
  extraFields: v.exactOptional(v.record(v.string(), v.unknown())),
  /** Signs and encrypts with this key and not with the one that is configured. */
  signingKey: v.exactOptional(v.string()),
  tamper: v.exactOptional(
    v.picklist(['signature', 'missing', 'malformed', 'truncated', 'non-ascii', 'body']),
  ),
  /** Signed and sent as it is, in place of the payload. */
  raw: v.exactOptional(v.string()),
};

/** What one delivery looks like. */
export const DeliveryShapeSchema = v.strictObject(deliveryShape);

const webhookPlan = v.strictObject({
  ...deliveryShape,
  enabled: v.exactOptional(v.boolean()),
  /** Attempts (1 = the first) that are not sent. */
  drop: v.exactOptional(v.array(attempts)),
  /** Offset of each attempt from the task's end; there are no more attempts than offsets. */
  scheduleMs: v.exactOptional(v.pipe(v.array(milliseconds), v.minLength(1))),
  /** Extra copies of each attempt, sent at the same time as it. */
  duplicate: v.exactOptional(attempts),
  keepRetryingAfterSuccess: v.exactOptional(v.boolean()),
});

export const PlanSchema = v.strictObject({
  outcome: v.exactOptional(v.picklist(TERMINAL_STATUSES)),
  actionErrors: v.exactOptional(
    v.strictObject(v.entriesFromList(ACTION_IDS, v.exactOptional(v.picklist(ACTION_ERROR_CODES)))),
  ),
  /** null: the task never finishes by itself. */
  durationMs: v.exactOptional(v.nullable(milliseconds)),
  results: v.exactOptional(v.unknown()),
  /** How a consent-based extraction ends, in place of its data. */
  failure: v.exactOptional(
    v.strictObject({
      status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
      errorType: v.string(),
      errorCode: v.exactOptional(v.string()),
    }),
  ),
  start: v.exactOptional(v.array(StartBehaviourSchema)),
  startForever: v.exactOptional(StartBehaviourSchema),
  read: v.exactOptional(v.array(ReadBehaviourSchema)),
  readForever: v.exactOptional(ReadBehaviourSchema),
  webhook: v.exactOptional(webhookPlan),
});

export const WebhookSettingsSchema = v.strictObject({
  url: v.exactOptional(v.pipe(v.string(), v.url())),
  signingKey: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
  mode: v.exactOptional(modeSchema),
});

/** What a client may not do: refusals that follow from its state. Nothing is restricted unless it is set. */
export const RestrictionsSchema = v.strictObject({
  /** False: temporary encryption is not activated ("Encryption scheme" 5). */
  temporaryEncryption: v.exactOptional(v.boolean()),
  /** An entity that the listing does not have is refused. */
  listedEntitiesOnly: v.exactOptional(v.boolean()),
  /** The others refuse a legacy start, the one route for which the document shows their answers. */
  oneTaskPerUser: v.exactOptional(v.boolean()),
  /** Tasks of every interface, in a calendar month (UTC). */
  tasksPerMonth: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** Wrong logins of a username/action pair in an hour. */
  wrongLoginsPerHour: v.exactOptional(attempts),
});

export type CallBehaviour = v.InferOutput<typeof CallBehaviourSchema>;
export type Fault = v.InferOutput<typeof FaultSchema>;
export type StartBehaviour = v.InferOutput<typeof StartBehaviourSchema>;
export type ReadBehaviour = v.InferOutput<typeof ReadBehaviourSchema>;
export type PlannedAnswer = Omit<v.InferOutput<typeof plannedAnswer>, 'kind'>;
export type DeliveryShape = v.InferOutput<typeof DeliveryShapeSchema>;
export type WebhookPlan = v.InferOutput<typeof webhookPlan>;
export type Plan = v.InferOutput<typeof PlanSchema>;
export type WebhookMode = v.InferOutput<typeof modeSchema>;
export type Restrictions = v.InferOutput<typeof RestrictionsSchema>;
export type WebhookSettings = v.InferOutput<typeof WebhookSettingsSchema>;
