import { Hono } from 'hono';
import * as v from 'valibot';
import { PlanSchema } from '../plan.ts';
import { resetSandbox } from '../reset.ts';
import type { Sandbox } from '../state.ts';
import type { SandboxEnv } from '../transport/wire.ts';
import { readBody } from './read-body.ts';
import { summaryView } from './views.ts';

const SecondsSchema = v.strictObject({ seconds: v.pipe(v.number(), v.minValue(0)) });

/** Time for the answer to this call, before every connection is closed. */
const ANSWER_MS = 50;

/** Summary, plans, clock, outage, reset. */
export const worldControl = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.get('/', (c) => c.json(summaryView(sandbox)));

  app.put('/plans/:username', async (c) => {
    const plan = await readBody(c, PlanSchema);
    sandbox.plans.set(c.req.param('username'), { plan, startsUsed: 0, readsUsed: 0 });
    return c.json({ username: c.req.param('username'), plan });
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
    resetSandbox(sandbox);
    return c.json({});
  });

  return app;
};
