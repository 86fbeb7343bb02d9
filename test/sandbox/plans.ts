import type { Plan, ReadBehaviour, StartBehaviour } from './plan.ts';
import type { Sandbox } from './state.ts';

const normal: Plan = {};

/** The plan for calls whose credentials have this username; an empty one where none was set. */
export const planOf = (sandbox: Sandbox, username: string): Plan =>
  sandbox.plans.get(username)?.plan ?? normal;

/** How to treat this start call: the next of `start`, then `startForever`, then normally. Uses one up. */
export const nextStartBehaviour = (sandbox: Sandbox, username: string): StartBehaviour => {
  const running = sandbox.plans.get(username);
  if (running === undefined) return { kind: 'accept' };
  const next = running.plan.start?.[running.startsUsed] ?? running.plan.startForever;
  running.startsUsed += 1;
  return next ?? { kind: 'accept' };
};

/** How to treat this read, likewise; undefined: normally. */
export const nextReadBehaviour = (sandbox: Sandbox, username: string): ReadBehaviour | undefined => {
  const running = sandbox.plans.get(username);
  if (running === undefined) return undefined;
  const next = running.plan.read?.[running.readsUsed] ?? running.plan.readForever;
  running.readsUsed += 1;
  return next;
};
