import type { Hono } from 'hono';
import * as v from 'valibot';
import { FaultSchema, PlanSchema } from '../plan-schemas.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { matching, readBody } from './read-body.ts';
import { summaryView } from './views.ts';

const SecondsSchema = v.strictObject({ seconds: v.pipe(v.number(), v.minValue(0)) });
const FaultsSchema = v.strictObject({ faults: v.array(FaultSchema) });

/** Time for the answer to this call, before every connection is closed. */
const ANSWER_MS = 50;

/** Summary, received calls, plans, faults, clock, outage, reset. */
export const addWorldControl = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.get('/', (c) => c.json(summaryView(sandbox)));

  app.get('/calls', (c) =>
    c.json(matching(sandbox.calls, c, 'username', 'taskId', 'consentId', 'path', 'method')),
  );

  app.put('/plans/:username', async (c) => {
    const username = c.req.param('username');
    const plan = await readBody(c, PlanSchema);
    sandbox.plans.set(username, plan);
    return c.json({ username, plan });
  });

  // Makes any route misbehave, for all clients.
  app.put('/faults', async (c) => {
    const { faults } = await readBody(c, FaultsSchema);
    const now = sandbox.clock.now();
    sandbox.faults = faults.map((fault) => ({
      ...fault,
      endsAt: fault.forSeconds === undefined ? undefined : now + fault.forSeconds * 1_000,
    }));
    return c.json({ faults });
  });

  app.post('/clock/advance', async (c) => {
    const { seconds } = await readBody(c, SecondsSchema);
    sandbox.clock.advance(seconds * 1000);
    return c.json({ now: new Date(sandbox.clock.now()).toISOString() });
  });

  app.post('/down', async (c) => {
    const { seconds } = await readBody(c, SecondsSchema);
    setTimeout(() => void sandbox.goDown(seconds * 1000), ANSWER_MS);
    return c.json({ seconds });
  });

  app.post('/reset', (c) => {
    reset(sandbox);
    return c.json({});
  });
};

/** Removes all state but the clients, and cancels pending task ends and deliveries. */
const reset = (sandbox: Sandbox): void => {
  sandbox.pending.abort();
  sandbox.pending = new AbortController();
  const { tokens, consents, openPages, tasks, polledTasks, plans } = sandbox;
  for (const state of [tokens, consents, openPages, tasks, polledTasks, plans]) state.clear();
  sandbox.faults = [];
  sandbox.calls = [];
  for (const client of sandbox.clients.values()) {
    client.loginBehaviours = [];
    client.restrictions = {};
  }
  sandbox.events.clear();
  sandbox.events.append({ type: 'reset' });
};
