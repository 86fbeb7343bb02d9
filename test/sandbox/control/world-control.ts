import { Hono } from 'hono';
import * as v from 'valibot';
import { FaultSchema, PlanSchema } from '../plan-schemas.ts';
import { resetSandbox } from '../planned-behaviour.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { readBody } from './read-body.ts';
import { summaryView, taskView } from './views.ts';

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

/** Lists the received calls and the tasks. */
export const recordControl = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.get('/calls', (c) => {
    const { username, taskId, consentId, path, method } = c.req.query();
    return c.json(
      sandbox.calls
        .filter((call) => username === undefined || call.username === username)
        .filter((call) => taskId === undefined || call.taskId === taskId)
        .filter((call) => consentId === undefined || call.consentId === consentId)
        .filter((call) => path === undefined || call.path === path)
        .filter((call) => method === undefined || call.method === method),
    );
  });

  app.get('/tasks', (c) => {
    const { username } = c.req.query();
    const tasks = [...sandbox.tasks.values()].filter(
      (task) => username === undefined || task.username === username,
    );
    return c.json(tasks.map((task) => taskView(task, sandbox.clock.now())));
  });

  return app;
};
