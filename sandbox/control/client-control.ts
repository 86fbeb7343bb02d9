import type { Hono } from 'hono';
import * as v from 'valibot';
import {
  CallBehaviourSchema,
  ClientSchema,
  RestrictionsSchema,
  WebhookSettingsSchema,
} from '../plan-schemas.ts';
import { clientFrom } from '../registered-client.ts';
import type { Client, Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { refused } from '../transport/refusal.ts';
import { found, readBody } from './read-body.ts';
import { clientView } from './views.ts';

const LoginPlanSchema = v.strictObject({ behaviours: v.array(CallBehaviourSchema) });

/** Clients: their webhook settings, restrictions and planned logins. */
export const addClientControl = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.put('/clients/:clientId', async (c) => {
    const clientId = c.req.param('clientId');
    const settings = await readBody(c, ClientSchema);
    const other = [...sandbox.clients.values()].find((each) => each.apiKey === settings.apiKey);
    if (other !== undefined && other.clientId !== clientId) {
      throw refused(409, { message: 'Another client has this API key' });
    }
    const client = clientFrom({ clientId, ...settings });
    sandbox.clients.set(clientId, client);
    return c.json(clientView(client));
  });

  app.put('/clients/:clientId/webhook', async (c) => {
    const client = clientOf(sandbox, c.req.param('clientId'));
    client.webhook = { ...client.webhook, ...(await readBody(c, WebhookSettingsSchema)) };
    return c.json(clientView(client));
  });

  app.put('/clients/:clientId/login', async (c) => {
    const client = clientOf(sandbox, c.req.param('clientId'));
    client.loginBehaviours = (await readBody(c, LoginPlanSchema)).behaviours;
    return c.json({ clientId: client.clientId, behaviours: client.loginBehaviours });
  });

  app.put('/clients/:clientId/restrictions', async (c) => {
    const client = clientOf(sandbox, c.req.param('clientId'));
    client.restrictions = await readBody(c, RestrictionsSchema);
    delete client.startsLeft;
    return c.json(clientView(client));
  });
};

/** The client with this id, by default the first. */
export const clientOf = (sandbox: Sandbox, clientId: string | undefined): Client => {
  const [first] = sandbox.clients.values();
  return found(clientId === undefined ? first : sandbox.clients.get(clientId), 'client');
};
