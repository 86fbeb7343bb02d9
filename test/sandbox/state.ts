import type { SandboxClock } from './clock.ts';
import type { EntityType } from './entities.ts';
import type { EventLog } from './events.ts';
import type { CallBehaviour, Fault, Plan, Restrictions, WebhookMode } from './plan.ts';
import type { Product } from './product-vocabulary.ts';
import type { ActionId, TaskStatus } from './task-vocabulary.ts';

export type Client = {
  readonly clientId: string;
  readonly apiKey: string;
  /** Of its consent pages; case-sensitive ("Create OTP token"). */
  readonly widgetConfigId: string;
  /** What support configures at the provider ("Events" 1). No url: deliveries fail and are recorded. */
  webhook: { readonly url?: string; readonly signingKey?: string; readonly mode: WebhookMode };
  /** One is used per login, then logins are normal. */
  loginBehaviours: CallBehaviour[];
  restrictions: Restrictions;
};

export type Session = {
  readonly token: string;
  readonly clientId: string;
  readonly issuedAt: number;
  expiresAt: number;
};

/** Tied to one user ("Task Token"): `target` is the national id as `11111111-1`. */
export type TaskToken = {
  readonly token: string;
  readonly clientId: string;
  readonly target: string;
  expiresAt: number;
};

export type OtpToken = {
  readonly token: string;
  readonly clientId: string;
  readonly consentId: string;
  expiresAt: number;
  /** It opens the consent page once. */
  used: boolean;
};

/** The last is deprecated; nothing here leads to it but the control interface. */
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

/** What answers say in place of the truth; null: the field is absent. */
export type ShownInstead = {
  readonly status?: string | undefined;
  readonly subStatus?: string | null | undefined;
};

export type Consent = {
  readonly consentId: string;
  readonly clientId: string;
  /** Whose it is, as `11111111-1`: the company in the legal person flow, else the user. */
  readonly owner: string;
  readonly locale: string;
  /** Types of the entities that may be chosen; undefined: all. */
  readonly entityTypes: readonly EntityType[] | undefined;
  /** Those asked for, and once it is authorized those that were authorized. */
  products: readonly Product[];
  /** While it is in progress: the one that the consent page has chosen beforehand. */
  entity: { readonly id: string; readonly name: string; readonly type: EntityType };
  /** Its state. `status` follows from it, and from `validUntil`. */
  subStatus: SubStatus;
  /** Milliseconds since the epoch. */
  validUntil: number;
  terminatedAt?: number;
  /** In every answer. */
  shown: ShownInstead;
  /** In list items, laid over `shown`. */
  listed: ShownInstead;
};

export type RequestedAction = {
  readonly id: ActionId;
  readonly dateRange?: { readonly startDate: string; readonly endDate: string };
};

export type WebhookRequest = {
  readonly enable: boolean;
  readonly retries: number;
};

export type Task = {
  readonly taskId: string;
  readonly clientId: string;
  readonly username: string;
  readonly businessId?: string;
  readonly entity: string;
  readonly actions: readonly RequestedAction[];
  readonly webhook?: WebhookRequest;
  /** Milliseconds since the epoch, like the other times of a task. */
  readonly createdAt: number;
  readonly runningAt: number;
  /** Set together, once. */
  ending?: { readonly taskStatus: TaskStatus; readonly results: unknown; readonly finishedAt: number };
  readonly deliveries: Delivery[];
};

/** A task of v1, or of the consent-based variant of v2: it is only ever polled. */
export type PolledTask = {
  readonly taskId: string;
  readonly clientId: string;
  /** Whose plan holds: the username of the credentials, or the consent's owner. */
  readonly username: string;
  readonly asked: AskedByConsent | AskedByCredentials;
  readonly createdAt: number;
  readonly runningAt: number;
  /** Null: it does not end by itself. */
  endsAt: number | null;
};

export type AskedByConsent = {
  readonly kind: 'consent';
  readonly version: 'v1' | 'v2';
  readonly consentId: string;
  /** Of the consent, when the task was created. */
  readonly entityId: string;
  readonly product: Product;
};

export type AskedByCredentials = {
  readonly kind: 'legacy';
  readonly entityId: string;
  readonly actionType: string;
  readonly businessId?: string;
};

/** A call to a route of the provider. No token, key, credential or body is in it. */
export type Call = {
  readonly seq: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  status: number | 'none' | 'in progress';
  clientId?: string;
  username?: string;
  taskId?: string;
  consentId?: string;
  credentialsMode?: string;
  webhook?: WebhookRequest;
  /** First 12 hex digits of the SHA-256 of the Bearer token: tells tokens apart, gives none away. */
  bearer?: string;
};

export type DeliveryFailure = 'not-configured' | 'timeout' | 'unreachable' | 'dropped';

/** One POST of the webhook, or the one that a plan has dropped. */
export type Delivery = {
  /** 1..5 for the provider's own attempts; 0 when the control interface has ordered it. */
  readonly attempt: number;
  readonly at: string;
  readonly taskStatus: string;
  readonly mode?: WebhookMode;
  /** What the receiver answered, or why there was no answer. */
  readonly status?: number;
  readonly error?: DeliveryFailure;
  /** Whether header and body, as sent, fit the client's configured key at that moment. */
  readonly signatureValid?: boolean;
};

/** A plan and how much of it is used up. */
export type RunningPlan = {
  readonly plan: Plan;
  startsUsed: number;
  readsUsed: number;
};

export type Settings = {
  /** False: never emits the webhook, as the provider's own sandbox ("Sandbox behaviours" 5). */
  readonly webhooks: boolean;
  readonly taskDurationMs: number;
  readonly deliveryIntervalsMs: readonly number[];
  readonly attemptTimeoutMs: number;
  readonly otpTokenLifeMs: number;
  readonly taskTokenLifeMs: number;
  readonly consentLifeMs: number;
  /** Of a `taskId`, from its creation: after that there is no such task. */
  readonly taskLifeMs: number;
  readonly marks: Marks;
};

/** Words to stand in all results and in all webhook bodies, so that they can be looked for where they must not be. */
export type Marks = {
  readonly result?: string;
  readonly webhook?: string;
};

export type Sandbox = {
  readonly settings: Settings;
  readonly clock: SandboxClock;
  readonly events: EventLog;
  /** Cuts every connection, and takes no other for so long. Deliveries go on. */
  readonly goDown: (milliseconds: number) => Promise<void>;
  /** Signs tokens and PDF addresses; another one at each start. */
  readonly signingSecret: Uint8Array;
  readonly clients: Map<string, Client>;
  readonly sessions: Map<string, Session>;
  readonly otpTokens: Map<string, OtpToken>;
  readonly taskTokens: Map<string, TaskToken>;
  readonly consents: Map<string, Consent>;
  /** Consents by the key of the consent page that is open on them. */
  readonly openPages: Map<string, Consent>;
  readonly tasks: Map<string, Task>;
  readonly polledTasks: Map<string, PolledTask>;
  readonly plans: Map<string, RunningPlan>;
  faults: Fault[];
  calls: Call[];
  /** Aborts what is still to happen, at reset and at close. */
  pending: AbortController;
};
