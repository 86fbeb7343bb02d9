import * as v from 'valibot';
import { START_PRESET_NAMES } from './legacy/start-presets.ts';
import { ACTION_ERROR_CODES, ACTION_IDS, TERMINAL_STATUSES } from './task-vocabulary.ts';

/**
 * The plans and faults that make the sandbox misbehave. The schemas are strict, so that a misspelt field is refused and
 * not ignored. docs/sandbox.md describes every field.
 */

const milliseconds = v.pipe(v.number(), v.integer(), v.minValue(0));
const attempts = v.pipe(v.number(), v.integer(), v.minValue(1));
/** The statuses that a Response can have. 1xx are not final answers. */
const httpStatus = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599));

const answer = {
  status: httpStatus,
  /** A string is sent unchanged, anything else as JSON. Default: a JSON body with a message. */
  body: v.exactOptional(v.unknown()),
  headers: v.exactOptional(v.record(v.string(), v.string())),
};
const plannedAnswer = v.strictObject({ kind: v.literal('answer'), ...answer });
const silence = v.strictObject({ kind: v.literal('silence') });
const expireSession = v.strictObject({ kind: v.literal('expire-session') });

/** How any call can be answered. */
export const CallBehaviourSchema = v.variant('kind', [
  plannedAnswer,
  silence,
  v.strictObject({ kind: v.literal('reset') }),
  v.strictObject({ kind: v.literal('trickle'), body: v.exactOptional(v.unknown()) }),
]);

export const FaultSchema = v.strictObject({
  method: v.exactOptional(v.string()),
  /** A path, or a prefix and `*`. */
  path: v.string(),
  /** One for each matching call, in order. */
  behaviours: v.array(
    v.variant('kind', [
      ...CallBehaviourSchema.options,
      /** As without a fault, after a delay. */
      v.strictObject({ kind: v.literal('slow'), delayMs: milliseconds }),
      /** As without a fault: for a provider that comes and goes. */
      v.strictObject({ kind: v.literal('pass') }),
    ]),
  ),
  /** An outage: the behaviours are repeated in turn for so long. */
  forSeconds: v.exactOptional(v.pipe(v.number(), v.minValue(0))),
});

const StartBehaviourSchema = v.variant('kind', [
  plannedAnswer,
  silence,
  expireSession,
  v.strictObject({ kind: v.literal('accept') }),
  /** Refused in the words of a preset of `POST /api/v1/tasks`. */
  v.strictObject({ kind: v.literal('refuse'), preset: v.picklist(START_PRESET_NAMES) }),
  v.strictObject({ ...answer, kind: v.literal('accept-then-answer') }),
  v.strictObject({ kind: v.literal('accept-then-silence') }),
  v.strictObject({ kind: v.literal('reset'), taken: v.exactOptional(v.boolean()) }),
  v.strictObject({ kind: v.literal('slow'), delayMs: milliseconds }),
  v.strictObject({ kind: v.literal('finish-first') }),
  v.strictObject({ kind: v.literal('trickle') }),
]);

const ReadBehaviourSchema = v.variant('kind', [
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
  /** Sent as `taskStatus` instead of the task's own. Any string, also an undocumented one. */
  statusOverride: v.exactOptional(v.string()),
  extraFields: v.exactOptional(v.record(v.string(), v.unknown())),
  /** Signs and encrypts with this key instead of the configured one. */
  signingKey: v.exactOptional(v.string()),
  tamper: v.exactOptional(
    v.picklist(['signature', 'missing', 'malformed', 'truncated', 'non-ascii', 'body']),
  ),
  /** Signed and sent instead of the payload. */
  raw: v.exactOptional(v.string()),
};

/** The content of a delivery. */
export const DeliveryShapeSchema = v.strictObject(deliveryShape);

const webhookPlan = v.strictObject({
  ...deliveryShape,
  enabled: v.exactOptional(v.boolean()),
  /** The attempts (from 1) that are not sent. */
  drop: v.exactOptional(v.array(attempts)),
  /** The offset of each attempt from the end of the task. There are at most as many attempts as offsets. */
  scheduleMs: v.exactOptional(v.pipe(v.array(milliseconds), v.minLength(1))),
  /** How many extra copies of each attempt are sent at the same time. */
  duplicate: v.exactOptional(attempts),
  keepRetryingAfterSuccess: v.exactOptional(v.boolean()),
});

export const PlanSchema = v.strictObject({
  outcome: v.exactOptional(v.picklist(TERMINAL_STATUSES)),
  actionErrors: v.exactOptional(
    v.strictObject(v.entriesFromList(ACTION_IDS, v.exactOptional(v.picklist(ACTION_ERROR_CODES)))),
  ),
  /** null: the task does not end by itself. */
  durationMs: v.exactOptional(v.nullable(milliseconds)),
  results: v.exactOptional(v.unknown()),
  /** For so long after the end of a task or extraction, its reads show `shown` in place of the results. null by default. */
  resultsLag: v.exactOptional(v.strictObject({ ms: milliseconds, shown: v.exactOptional(v.unknown()) })),
  /** Makes a consent-based extraction fail like this. */
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

export const ClientSchema = v.strictObject({
  apiKey: v.pipe(v.string(), v.minLength(1)),
  /** The widget configuration of its consent pages. Default `sandbox-widget`. */
  widgetConfigId: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
  /** The default `mode` is plain. */
  webhook: v.exactOptional(WebhookSettingsSchema),
});

/** What a client may not do. By default nothing is restricted. */
export const RestrictionsSchema = v.strictObject({
  /** False: temporary encryption is not activated ("Encryption scheme" 5). */
  temporaryEncryption: v.exactOptional(v.boolean()),
  /** True: entities that are not listed are refused. */
  listedEntitiesOnly: v.exactOptional(v.boolean()),
  /** Starts above this rate are answered 429. The document shows no rate. */
  startsPerSecond: v.exactOptional(v.pipe(v.number(), v.gtValue(0))),
  /** How many of them may come at once, after a pause. Default: as many as in a second, and at least one. */
  startsAtOnce: v.exactOptional(attempts),
  /** This and the following refuse a legacy start, the only route whose refusals the document shows. */
  oneTaskPerUser: v.exactOptional(v.boolean()),
  /** The most tasks of all interfaces in a calendar month (UTC). */
  tasksPerMonth: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** The most wrong logins of a username and action in an hour. */
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
export type ClientSettings = v.InferOutput<typeof ClientSchema>;
export type WebhookSettings = v.InferOutput<typeof WebhookSettingsSchema>;
