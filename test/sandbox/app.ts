import { Hono } from 'hono';
import { controlRoutes } from './control/control-routes.ts';
import { loginRoutes } from './routes/login.ts';
import { taskRoutes } from './routes/tasks.ts';
import type { Sandbox } from './state.ts';
import { recordCall } from './transport/record-call.ts';
import type { SandboxEnv } from './transport/wire.ts';

/** The provider's routes, one file per section of its document, and the control interface beside them. */
export function createApp(sandbox: Sandbox): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>({ strict: false });
  // Before the recorder: a control call is not a call to the provider.
  app.route('/_sandbox', controlRoutes(sandbox));
  app.use('*', recordCall(sandbox));
  app.route('/', loginRoutes(sandbox));
  app.route('/', taskRoutes(sandbox));
  app.notFound((c) => c.json({ message: 'Not found' }, 404));
  return app;
}
