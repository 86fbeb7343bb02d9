import type { Plan, ReadBehaviour, StartBehaviour } from './plan-schemas.ts';
import type { Sandbox } from './state-types.ts';

const noPlan: Plan = {};

/** The plan of a username. Empty if none was set. */
export const planOf = (sandbox: Sandbox, username: string): Plan =>
  sandbox.plans.get(username)?.plan ?? noPlan;

/** The behaviour of this start call: the next of `start`, then `startForever`, then normal. Consumes one. */
export const nextStartBehaviour = (sandbox: Sandbox, username: string): StartBehaviour => {
  const running = sandbox.plans.get(username);
  if (running === undefined) return { kind: 'accept' };
  const next = running.plan.start?.[running.startsUsed] ?? running.plan.startForever;
  running.startsUsed += 1;
  return next ?? { kind: 'accept' };
};

/** The behaviour of this read: the next of `read`, then `readForever`, then undefined (normal). Consumes one. */
export const nextReadBehaviour = (sandbox: Sandbox, username: string): ReadBehaviour | undefined => {
  const running = sandbox.plans.get(username);
  if (running === undefined) return undefined;
  const next = running.plan.read?.[running.readsUsed] ?? running.plan.readForever;
  running.readsUsed += 1;
  return next;
};

/** Removes all state but the clients, and cancels pending task ends and deliveries. */
export const resetSandbox = (sandbox: Sandbox): void => {
  sandbox.pending.abort();
  sandbox.pending = new AbortController();
  sandbox.sessions.clear();
  sandbox.otpTokens.clear();
  sandbox.taskTokens.clear();
  sandbox.consents.clear();
  sandbox.openPages.clear();
  sandbox.tasks.clear();
  sandbox.polledTasks.clear();
  sandbox.plans.clear();
  sandbox.faults = [];
  sandbox.calls = [];
  for (const client of sandbox.clients.values()) {
    client.loginBehaviours = [];
    client.restrictions = {};
  }
  sandbox.events.clear();
  sandbox.events.append({ type: 'reset' });
};
