import { Hono } from 'hono';
import type { Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { clientControl } from './client-control.ts';
import { consentControl } from './consent-control.ts';
import { eventStream } from './event-stream.ts';
import { ControlError, loopbackOnly } from './read-body.ts';
import { polledTaskControl, taskControl } from './task-control.ts';
import { tokenControl } from './token-control.ts';
import { faultControl, recordControl, worldControl } from './world-control.ts';

/** Everything under /_sandbox; docs/sandbox.md describes it. */
export const controlRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();
  app.use('*', loopbackOnly);
  app.route('/', worldControl(sandbox));
  app.route('/', clientControl(sandbox));
  app.route('/', recordControl(sandbox));
  app.route('/', taskControl(sandbox));
  app.route('/', polledTaskControl(sandbox));
  app.route('/', consentControl(sandbox));
  app.route('/', tokenControl(sandbox));
  app.route('/', faultControl(sandbox));
  app.get('/events', (c) => eventStream(sandbox, Number(c.req.query('since') ?? 0)));
  app.all('*', (c) => c.json({ message: 'There is no such control; see docs/sandbox.md' }, 404));
  app.onError((error, c) => {
    if (error instanceof ControlError) return c.json({ message: error.message }, error.status);
    throw error;
  });
  return app;
};
