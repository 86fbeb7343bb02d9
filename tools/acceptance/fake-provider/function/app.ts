import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import {
  createOtpToken,
  createTaskToken,
  getConsent,
  pollExtraction,
  revokeConsent,
  startExtraction,
} from './answer-consent-flow.ts';
import { logIn, readTask, startTask } from './answer-tasks.ts';
import { assertNamesCredentials, type ProviderEnv, type ProviderPorts } from './call.ts';

/** The endpoints of the provider that the checks need. All state is in tokens and ids, so that nothing is stored. */
export const createApp = (ports: ProviderPorts): Hono<ProviderEnv> =>
  new Hono<ProviderEnv>()
    .use(async (call, next) => {
      assertNamesCredentials(call);
      call.set('ports', ports);
      call.set('key', await ports.tokenKey());
      call.set('now', ports.now());
      await next();
    })
    .post('/api/v1/auth/login', logIn)
    .post('/api/v2/tasks', startTask)
    .get('/api/v2/tasks/:taskId', readTask)
    .post('/api/v1/token/otp/create', createOtpToken)
    .post('/api/v1/token/task', createTaskToken)
    .get('/api/v1/consents/:consentId', getConsent)
    .post('/api/v1/consents/revoke', revokeConsent)
    .post('/api/:version{v[12]}/products/retrieve-data/tasks', startExtraction)
    .get('/api/:version{v[12]}/products/retrieve-data/tasks/:taskId', pollExtraction)
    .notFound((call) => call.json({ errorType: 'UNKNOWN_ENDPOINT' }, 404))
    .onError((error, call) => {
      if (!(error instanceof HTTPException)) throw error;
      return call.json({ errorType: error.message }, error.status);
    });
