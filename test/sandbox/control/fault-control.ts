import { Hono } from 'hono';
import * as v from 'valibot';
import { FaultSchema } from '../plan.ts';
import type { Sandbox } from '../state.ts';
import type { SandboxEnv } from '../transport/wire.ts';
import { readBody } from './read-body.ts';

const FaultsSchema = v.strictObject({ faults: v.array(FaultSchema) });

/** Makes any route misbehave, for all clients. */
export const faultControl = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().put('/faults', async (c) => {
    const { faults } = await readBody(c, FaultsSchema);
    const now = sandbox.clock.now();
    sandbox.faults = faults.map((fault) => ({
      ...fault,
      endsAt: fault.forSeconds === undefined ? undefined : now + fault.forSeconds * 1_000,
    }));
    return c.json({ faults });
  });
