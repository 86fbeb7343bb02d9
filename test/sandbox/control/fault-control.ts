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
    sandbox.faults = (await readBody(c, FaultsSchema)).faults;
    return c.json({ faults: sandbox.faults });
  });
