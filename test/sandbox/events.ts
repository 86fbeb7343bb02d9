import type { Call, Delivery } from './state.ts';
import type { TaskStatus } from './task-vocabulary.ts';

/** What happened, without its number and time. */
export type Happening =
  /** A call has arrived and, where the body says it, it is known whose it is. Not answered yet. */
  | { readonly type: 'call-received'; readonly call: Call }
  /** A call is over: answered, or left without an answer (`status: 'none'`). */
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'task-created'; readonly taskId: string; readonly username: string }
  | {
      readonly type: 'task-finished';
      readonly taskId: string;
      readonly username: string;
      readonly taskStatus: TaskStatus;
    }
  | { readonly type: 'delivery'; readonly taskId: string; readonly delivery: Delivery }
  /** No attempt is left: `delivered` says whether one of them was taken. */
  | { readonly type: 'deliveries-ended'; readonly taskId: string; readonly delivered: boolean }
  | { readonly type: 'reset' };

/** `seq` counts from 1 and never restarts; `at` is ISO 8601 on the sandbox's clock. */
export type SandboxEvent = Happening & { readonly seq: number; readonly at: string };

export interface EventLog {
  append(happening: Happening): void;
  since(seq: number): readonly SandboxEvent[];
  /** Calls the listener for every event from now on; returns how to stop. */
  subscribe(listener: (event: SandboxEvent) => void): () => void;
  clear(): void;
}

export const createEventLog = (now: () => number): EventLog => {
  const listeners = new Set<(event: SandboxEvent) => void>();
  let events: SandboxEvent[] = [];
  let last = 0;
  return {
    append(happening) {
      last += 1;
      // A copy: the call or delivery that it names may go on changing.
      const event = { ...structuredClone(happening), seq: last, at: new Date(now()).toISOString() };
      events.push(event);
      for (const listener of [...listeners]) listener(event);
    },
    since: (seq) => events.filter((event) => event.seq > seq),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear() {
      events = [];
    },
  };
};
