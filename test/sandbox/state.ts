import type { SandboxClock } from './clock.ts';
import type { EventLog } from './events.ts';
import type { LoginBehaviour, Plan, WebhookMode } from './plan.ts';
import type { ActionId, TaskStatus } from './task-vocabulary.ts';

export interface Client {
  readonly clientId: string;
  readonly apiKey: string;
  /** What support configures at the provider ("Events" 1). No url: deliveries fail and are recorded. */
  webhook: { readonly url?: string; readonly signingKey?: string; readonly mode: WebhookMode };
  /** One is used per login, then logins are normal. */
  loginBehaviours: LoginBehaviour[];
}

export interface Session {
  readonly token: string;
  readonly clientId: string;
  readonly issuedAt: number;
  expiresAt: number;
}

export interface RequestedAction {
  readonly id: ActionId;
  readonly dateRange?: { readonly startDate: string; readonly endDate: string };
}

export interface WebhookRequest {
  readonly enable: boolean;
  readonly retries: number;
}

export interface Task {
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
}

/** A call to a route of the provider. No token, key, credential or body is in it. */
export interface Call {
  readonly seq: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  status: number | 'none' | 'in progress';
  clientId?: string;
  username?: string;
  taskId?: string;
  credentialsMode?: string;
  webhook?: WebhookRequest;
  /** First 12 hex digits of the SHA-256 of the Bearer token: tells tokens apart, gives none away. */
  bearer?: string;
}

export type DeliveryFailure = 'not-configured' | 'timeout' | 'unreachable' | 'dropped';

/** One POST of the webhook, or the one that a plan has dropped. */
export interface Delivery {
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
}

/** A plan and how much of it is used up. */
export interface RunningPlan {
  readonly plan: Plan;
  startsUsed: number;
  readsUsed: number;
}

export interface Settings {
  /** False: never emits the webhook, as the provider's own sandbox ("Sandbox behaviours" 5). */
  readonly webhooks: boolean;
  readonly taskDurationMs: number;
  readonly deliveryIntervalsMs: readonly number[];
  readonly attemptTimeoutMs: number;
}

export interface Sandbox {
  readonly settings: Settings;
  readonly clock: SandboxClock;
  readonly events: EventLog;
  readonly clients: ReadonlyMap<string, Client>;
  readonly sessions: Map<string, Session>;
  readonly tasks: Map<string, Task>;
  readonly plans: Map<string, RunningPlan>;
  calls: Call[];
  /** Aborts what is still to happen, at reset and at close. */
  pending: AbortController;
}
