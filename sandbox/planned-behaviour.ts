import type { Plan, ReadBehaviour, StartBehaviour } from './plan-schemas.ts';
import type { Sandbox } from './state-types.ts';

const noPlan: Plan = {};

/** The plan of a username. Empty if none was set. */
export const planOf = (sandbox: Sandbox, username: string): Plan => sandbox.plans.get(username) ?? noPlan;

/** What a read shows of the results of a task that ended at this time, if it has. */
export const resultsShown = (
  sandbox: Sandbox,
  username: string,
  { endedAt, results }: { readonly endedAt: number | undefined; readonly results: unknown },
): unknown => {
  const { resultsLag } = planOf(sandbox, username);
  if (resultsLag === undefined || endedAt === undefined || results === null) return results;
  return sandbox.clock.now() < endedAt + resultsLag.ms ? (resultsLag.shown ?? null) : results;
};

/** The behaviour of this start call: the next of `start`, then `startForever`, then normal. Consumes one. */
export const nextStartBehaviour = (sandbox: Sandbox, username: string): StartBehaviour => {
  const { start, startForever } = planOf(sandbox, username);
  return start?.shift() ?? startForever ?? { kind: 'accept' };
};

/** The behaviour of this read: the next of `read`, then `readForever`, then undefined (normal). Consumes one. */
export const nextReadBehaviour = (sandbox: Sandbox, username: string): ReadBehaviour | undefined => {
  const { read, readForever } = planOf(sandbox, username);
  return read?.shift() ?? readForever;
};
