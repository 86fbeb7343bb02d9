import { randomBytes, randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { sign } from 'hono/jwt';
import * as v from 'valibot';
import { createConsent } from '../consents/consent-state.ts';
import { NationalIdSchema } from '../consents/national-id.ts';
import { ENTITY_TYPES, PRODUCTS } from '../entities.ts';
import type { Client, Sandbox } from '../state-types.ts';
import { requireApiKey } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { misbehave } from '../transport/misbehave.ts';
import { bodyOf } from '../transport/read-json.ts';
import { invalidRequest, refused } from '../transport/refusal.ts';

/** "Session token". The document shows no upper bound of `expire`, so there is none. */
const LoginSchema = v.strictObject({
  expire: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)), 60),
});

const required = v.pipe(v.string(), v.minLength(1));
const clientIdSchema = v.pipe(v.string(), v.uuid());

/** "Create OTP token". */
const OtpRequestSchema = v.strictObject({
  products: v.pipe(v.array(v.picklist(PRODUCTS)), v.minLength(1)),
  user: v.strictObject({ username: NationalIdSchema, email: v.exactOptional(required) }),
  company: v.exactOptional(v.strictObject({ id: NationalIdSchema })),
  filters: v.exactOptional(
    v.strictObject({
      entities: v.exactOptional(
        v.strictObject({
          include: v.exactOptional(
            v.strictObject({ types: v.exactOptional(v.array(v.picklist(ENTITY_TYPES))) }),
          ),
        }),
      ),
    }),
  ),
  clientId: clientIdSchema,
  widgetConfigId: required,
  locale: v.exactOptional(required, 'es-CL'),
});

const TaskTokenRequestSchema = v.strictObject({ target: NationalIdSchema, clientId: clientIdSchema });

/** The calls with an API key: "Session token", "Create OTP token" and "Create Task Token". */
export const addTokenRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  const { tokens, settings, clock } = sandbox;

  app.post('/api/v1/auth/login', requireApiKey(sandbox), (c) => {
    const { clientId, loginBehaviours } = c.get('client');
    c.get('reportReceived')();
    const behaviour = loginBehaviours.shift();
    if (behaviour !== undefined) return misbehave(behaviour, c);
    // The only field is optional, so an empty body is valid.
    const { expire } = bodyOf(c, LoginSchema, c.get('body') || '{}');
    const issuedAt = clock.now();
    const token = `sandbox-session-${randomBytes(24).toString('hex')}`;
    const expiresAt = issuedAt + expire * 60_000;
    tokens.set(token, { kind: 'session', token, clientId, issuedAt, expiresAt });
    return c.json({ token });
  });

  // Creates a consent in progress, and the one-use token that opens its page.
  app.post('/api/v1/token/otp/create', requireApiKey(sandbox), async (c) => {
    const client = c.get('client');
    const request = bodyOf(c, OtpRequestSchema);
    const { clientId, widgetConfigId, user, company, products, locale, filters } = request;
    const isForCompanies = widgetConfigId === companyWidgetOf(client);
    if (widgetConfigId !== client.widgetConfigId && !isForCompanies) {
      throw invalidRequest(c, ['widgetConfigId']);
    }
    if (isForCompanies && company === undefined) throw invalidRequest(c, ['company']);
    // The API key identifies the client. Another client's id is refused.
    if (clientId !== client.clientId) throw refused(403, { message: 'Forbidden' });
    const types = filters?.entities?.include?.types ?? [];
    const { consentId, owner, validUntil } = createConsent(sandbox, {
      clientId,
      owner: company?.id ?? user.username,
      locale,
      entityTypes: types.length === 0 ? undefined : types,
      products: [...new Set(products)],
    });
    const call = c.get('call');
    call.username = owner;
    call.consentId = consentId;
    const otpToken = await makeJwt(consentId, validUntil, sandbox.signingSecret);
    const use = { consentId, used: false };
    tokens.set(otpToken, { kind: 'otp', token: otpToken, clientId, expiresAt: validUntil, ...use });
    return c.json({ data: { otpToken, consentId } });
  });

  // The user need not have a consent yet.
  app.post('/api/v1/token/task', requireApiKey(sandbox), async (c) => {
    const { target, clientId } = bodyOf(c, TaskTokenRequestSchema);
    if (clientId !== c.get('client').clientId) throw refused(403, { message: 'Forbidden' });
    c.get('call').username = target;
    const expiresAt = clock.now() + settings.taskTokenLifeMs;
    const taskToken = await makeJwt(target, expiresAt, sandbox.signingSecret);
    tokens.set(taskToken, { kind: 'task', token: taskToken, clientId, target, expiresAt });
    return c.json({ data: { taskToken } });
  });
};

/**
 * The widget configuration for companies only. `company` is "required in the legal-person flow", but the document does not
 * show what selects the flow. Here the widget configuration does. The client's other one serves both flows.
 */
const companyWidgetOf = ({ widgetConfigId }: Client): string => `${widgetConfigId}-company`;

/** A JWT (HS256): the document's format of OTP tokens and Task Tokens. Its time is in seconds (RFC 7519). */
const makeJwt = (sub: string, expiresAt: number, secret: string): Promise<string> =>
  sign({ sub, jti: randomUUID(), exp: Math.floor(expiresAt / 1000) }, secret);
