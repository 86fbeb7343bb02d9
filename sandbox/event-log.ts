import type { WebhookMode } from './plan-schemas.ts';
import type { TaskStatus } from './task-vocabulary.ts';

export type WebhookRequest = { readonly enable: boolean; readonly retries: number };

/** A call to a route of the provider, without tokens, keys, credentials and body. */
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
  webhook?: WebhookRequest | undefined;
  /** First 12 hex digits of the SHA-256 of the Bearer token. It distinguishes tokens without revealing them. */
  bearer?: string;
};

export type DeliveryFailure = 'not-configured' | 'timeout' | 'unreachable' | 'dropped';

/** One POST of the webhook, or one that a plan dropped. */
export type Delivery = {
  /** 1 to 5 for the provider's attempts. 0: requested through the control interface. */
  readonly attempt: number;
  readonly at: string;
  readonly taskStatus: string;
  readonly mode?: WebhookMode;
  /** The status of the receiver's answer, or else `error`. */
  readonly status?: number;
  readonly error?: DeliveryFailure;
  /** Whether the header was valid for the body under the client's configured key. */
  readonly signatureValid?: boolean;
};

/** An event without its number and time. */
type EventDetails =
  /** A call was received and its username or owner read, if it has one. It is not answered yet. */
  | { readonly type: 'call-received'; readonly call: Call }
  /** A call ended, with an answer or without one (`status: 'none'`). */
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'task-created'; readonly taskId: string; readonly username: string }
  | {
      readonly type: 'task-finished';
      readonly taskId: string;
      readonly username: string;
      readonly taskStatus: TaskStatus;
    }
  | { readonly type: 'delivery'; readonly taskId: string; readonly delivery: Delivery }
  /** No attempt is left. `delivered`: one of them was accepted. */
  | { readonly type: 'deliveries-ended'; readonly taskId: string; readonly delivered: boolean }
  | { readonly type: 'reset' };

/** `seq` counts from 1 and never restarts. `at` is ISO 8601 on the sandbox's clock. */
export type SandboxEvent = EventDetails & { readonly seq: number; readonly at: string };

export const createEventLog = (now: () => number) => {
  const listeners = new Set<(event: SandboxEvent) => void>();
  let events: SandboxEvent[] = [];
  let last = 0;
  return {
    append(details: EventDetails): void {
      last += 1;
      // A copy, because its call or delivery may still change.
      const event = { ...structuredClone(details), seq: last, at: new Date(now()).toISOString() };
      events.push(event);
      for (const listener of [...listeners]) listener(event);
    },
    since: (seq: number): readonly SandboxEvent[] => events.filter((event) => event.seq > seq),
    /** Calls the listener for every event from now on. Returns a function that ends the subscription. */
    subscribe(listener: (event: SandboxEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear(): void {
      events = [];
    },
  };
};
export type EventLog = ReturnType<typeof createEventLog>;
