import { Hono } from 'hono';
import type { Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { addClientControl } from './client-control.ts';
import { addConsentControl } from './consent-control.ts';
import { eventStream } from './event-stream.ts';
import { addTaskControl } from './task-control.ts';
import { addTokenControl } from './token-control.ts';
import { addWorldControl } from './world-control.ts';

/** Everything under /_sandbox; docs/sandbox.md describes it. */
export const controlRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();
  addWorldControl(app, sandbox);
  addClientControl(app, sandbox);
  addTaskControl(app, sandbox);
  addConsentControl(app, sandbox);
  addTokenControl(app, sandbox);
  app.get('/events', (c) => eventStream(sandbox, Number(c.req.query('since') ?? 0)));
  app.all('*', (c) => c.json({ message: 'There is no such control; see docs/sandbox.md' }, 404));
  return app;
};
