import type { Call, Delivery } from './state-types.ts';
import type { TaskStatus } from './task-vocabulary.ts';

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
