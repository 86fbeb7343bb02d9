import type { SandboxClock } from './clock.ts';
import type { EntityType, Product } from './entities.ts';
import type { Call, Delivery, EventLog, WebhookRequest } from './event-log.ts';
import type { CallBehaviour, Fault, Plan, Restrictions, WebhookMode } from './plan-schemas.ts';
import type { TaskStatus } from './task-vocabulary.ts';

export type Client = {
  readonly clientId: string;
  readonly apiKey: string;
  /** The widget configuration of its consent pages. Case-sensitive ("Create OTP token"). */
  readonly widgetConfigId: string;
  /** The webhook settings at the provider ("Events" 1). Without url, deliveries are recorded as failed. */
  webhook: { readonly url?: string; readonly signingKey?: string; readonly mode: WebhookMode };
  /** Each login consumes one. After that logins are normal. */
  loginBehaviours: CallBehaviour[];
  restrictions: Restrictions;
  /** Under a rate: how many starts were left of those that may come at once, at that time. */
  startsLeft?: { readonly count: number; readonly at: number };
};

type IssuedToken = {
  readonly token: string;
  readonly clientId: string;
  expiresAt: number;
};

export type Session = IssuedToken & { readonly kind: 'session'; readonly issuedAt: number };

/** Bound to one user ("Task Token"). `target`: the national id as `11111111-1`. */
export type TaskToken = IssuedToken & { readonly kind: 'task'; readonly target: string };

/** `used`: it has opened the consent page. */
export type OtpToken = IssuedToken & { readonly kind: 'otp'; readonly consentId: string; used: boolean };

export type Token = Session | TaskToken | OtpToken;

/** The last is deprecated. Only the control interface sets it. */
export const SUB_STATUSES = [
  'IN_PROGRESS',
  'ACTIVE',
  'REVOKED',
  'EXPIRED',
  'DISCARDED',
  'INVALID_PASSWORD',
  'ONE_SHOT_ALREADY_USED',
] as const;
export type SubStatus = (typeof SUB_STATUSES)[number];

/** Values that answers have instead of the real ones. null: the field is absent. */
export type ConsentOverride = {
  readonly status?: string | undefined;
  readonly subStatus?: string | null | undefined;
};

export type Consent = {
  readonly consentId: string;
  readonly clientId: string;
  /** A national id as `11111111-1`: of the company in the legal-person flow, else of the user. */
  readonly owner: string;
  readonly locale: string;
  /** The types of the entities to choose from. undefined: all. */
  readonly entityTypes: readonly EntityType[] | undefined;
  /** The requested products, and after the authorization the authorized ones. */
  products: readonly Product[];
  /** The chosen entity. Before the authorization, the one that the consent page preselects. */
  entity: { readonly id: string; readonly name: string; readonly type: EntityType };
  /** The state. `status` follows from it and from `validUntil`. */
  subStatus: SubStatus;
  /** Milliseconds since the epoch. */
  validUntil: number;
  terminatedAt?: number;
  /** After so many more calls that name it, the consent ends. */
  ends?: { readonly subStatus: SubStatus; callsLeft: number };
  /** Overrides every answer. */
  shown: ConsentOverride;
  /** Overrides list items, after `shown`. */
  listed: ConsentOverride;
};

export type RequestedAction = {
  readonly id: string;
  readonly params?: { readonly dateRange: { readonly startDate: string; readonly endDate: string } };
};

export type Task = {
  readonly taskId: string;
  readonly clientId: string;
  readonly username: string;
  readonly businessId?: string | undefined;
  readonly entity: string;
  readonly actions: readonly RequestedAction[];
  readonly webhook?: WebhookRequest | undefined;
  /** Milliseconds since the epoch, like the other times of a task. */
  readonly createdAt: number;
  readonly runningAt: number;
  /** Set once. */
  ending?: { readonly taskStatus: TaskStatus; readonly results: unknown; readonly finishedAt: number };
  readonly deliveries: Delivery[];
};

/** A legacy task or a consent-based extraction. It has no webhook: the client polls it. */
export type PolledTask = {
  readonly taskId: string;
  readonly clientId: string;
  /** The key of its plan: the username of the credentials, or the owner of the consent. */
  readonly username: string;
  readonly asked: ConsentTaskRequest | LegacyTaskRequest;
  readonly createdAt: number;
  readonly runningAt: number;
  /** null: it does not end by itself. */
  endsAt: number | null;
};

export type ConsentTaskRequest = {
  readonly kind: 'consent';
  readonly version: 'v1' | 'v2';
  readonly consentId: string;
  /** The consent's entity when the task was created. */
  readonly entityId: string;
  readonly product: Product;
};

export type LegacyTaskRequest = {
  readonly kind: 'legacy';
  readonly entityId: string;
  readonly actionType: string;
  readonly businessId?: string | undefined;
};

export type Settings = {
  /** False: never sends the webhook, as the provider's own sandbox ("Sandbox behaviours" 5). */
  readonly webhooks: boolean;
  readonly taskDurationMs: number;
  /** Offset of attempt 1, 2, … from the task's end. */
  readonly deliveryIntervalsMs: readonly number[];
  readonly attemptTimeoutMs: number;
  /** Validity of an OTP token and of its undecided consent. */
  readonly otpTokenLifeMs: number;
  readonly taskTokenLifeMs: number;
  /** From the authorization. */
  readonly consentLifeMs: number;
  /** How long a task can be read, from its creation. */
  readonly taskLifeMs: number;
  /** A further host at which it is reached, as in `Host`. */
  readonly host?: string;
  /** Words that are added to all results and all webhook bodies, so that tests can search for leaks. */
  readonly markers: { readonly result?: string; readonly webhook?: string };
};

export type Sandbox = {
  readonly settings: Settings;
  readonly clock: SandboxClock;
  readonly events: EventLog;
  /** Closes every connection, and accepts none for so long. Deliveries go on. */
  readonly goDown: (milliseconds: number) => Promise<void>;
  /** Signs tokens and PDF URLs. New at each start. */
  readonly signingSecret: string;
  readonly clients: Map<string, Client>;
  readonly tokens: Map<string, Token>;
  readonly consents: Map<string, Consent>;
  /** Consents by the key of their open consent page. */
  readonly openPages: Map<string, Consent>;
  readonly tasks: Map<string, Task>;
  readonly polledTasks: Map<string, PolledTask>;
  /** Each start and read takes its behaviour out of the plan. */
  readonly plans: Map<string, Plan>;
  /** `endsAt` is the end of an outage. */
  faults: (Fault & { readonly endsAt?: number | undefined })[];
  calls: Call[];
  /** Cancels pending task ends and deliveries, at reset and at close. */
  pending: AbortController;
};
