import { Hono } from 'hono';
import { controlRoutes } from './control/control-routes.ts';
import { consentExtractionRoutes } from './routes/consent-extraction.ts';
import { consentPdfRoutes } from './routes/consent-pdf.ts';
import { consentRoutes } from './routes/consents.ts';
import { legacyEntityRoutes, legacyUserStatusRoutes } from './routes/legacy-entities.ts';
import { legacyTaskRoutes } from './routes/legacy-tasks.ts';
import { loginRoutes } from './routes/login.ts';
import { otpTokenRoutes } from './routes/otp-token.ts';
import { taskTokenRoutes } from './routes/task-token.ts';
import { taskRoutes } from './routes/tasks.ts';
import { widgetRoutes } from './routes/widget.ts';
import type { Sandbox } from './state-types.ts';
import type { SandboxEnv } from './transport/hono-types.ts';
import { applyFault } from './transport/misbehave.ts';
import { recordCall } from './transport/record-call.ts';

const routes = [
  loginRoutes,
  otpTokenRoutes,
  taskTokenRoutes,
  consentRoutes,
  consentPdfRoutes,
  consentExtractionRoutes,
  taskRoutes,
  legacyTaskRoutes,
  legacyEntityRoutes,
  legacyUserStatusRoutes,
  widgetRoutes,
];

/** The provider's routes, one file per section of its API document, and the control interface. */
export const createApp = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>({ strict: false });
  // Before the recorder, because a control call is not a call to the provider.
  app.route('/_sandbox', controlRoutes(sandbox));
  app.use('*', recordCall(sandbox));
  app.use('*', applyFault(sandbox));
  for (const routesOf of routes) app.route('/', routesOf(sandbox));
  app.notFound((c) => c.json({ message: 'Not found' }, 404));
  return app;
};
