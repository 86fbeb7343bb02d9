import { Hono } from 'hono';
import { controlRoutes } from './control/control-routes.ts';
import { addConsentExtractionRoutes } from './routes/consent-extraction.ts';
import { addConsentPdfRoute } from './routes/consent-pdf.ts';
import { addConsentRoutes } from './routes/consents.ts';
import { addLegacyEntityRoutes } from './routes/legacy-entities.ts';
import { addLegacyTaskRoutes } from './routes/legacy-tasks.ts';
import { addTaskRoutes } from './routes/tasks.ts';
import { addTokenRoutes } from './routes/tokens.ts';
import { addWidgetRoutes } from './routes/widget.ts';
import type { Sandbox } from './state-types.ts';
import type { SandboxEnv } from './transport/hono-types.ts';
import { applyFault } from './transport/misbehave.ts';
import { recordCall } from './transport/record-call.ts';
import { refuseForeignPages } from './transport/refuse-foreign-pages.ts';

/** The provider's routes, as in the sections of its API document, and the control interface. */
export const createApp = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>({ strict: false });
  app.use('*', refuseForeignPages(sandbox));
  // Before the recorder, because a control call is not a call to the provider.
  app.route('/_sandbox', controlRoutes(sandbox));
  app.use('*', recordCall(sandbox));
  app.use('*', applyFault(sandbox));
  addTokenRoutes(app, sandbox);
  addConsentRoutes(app, sandbox);
  addConsentPdfRoute(app, sandbox);
  addConsentExtractionRoutes(app, sandbox);
  addTaskRoutes(app, sandbox);
  addLegacyTaskRoutes(app, sandbox);
  addLegacyEntityRoutes(app, sandbox);
  addWidgetRoutes(app, sandbox);
  app.notFound((c) => c.json({ message: 'Not found' }, 404));
  return app;
};
