import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import * as v from 'valibot';
import type { Client, Sandbox } from '../state-types.ts';
import { requireApiKey } from '../transport/authenticate.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { misbehave } from '../transport/misbehave.ts';
import { readJson } from '../transport/read-json.ts';

/** "Session token". The document shows no upper bound of `expire`, so there is none. */
const LoginSchema = v.strictObject({
  expire: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)), 60),
});

export const loginRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().post('/api/v1/auth/login', requireApiKey(sandbox), (c) => {
    const client = c.get('client');
    c.get('reportReceived')();
    const behaviour = client.loginBehaviours.shift();
    return behaviour === undefined ? login(sandbox, client, c) : misbehave(behaviour, c);
  });

const login = (sandbox: Sandbox, client: Client, c: SandboxContext): Response => {
  // The only field is optional, so an empty body is valid.
  const parsed = readJson(c.get('body') || '{}', LoginSchema);
  if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.invalid }, 400);
  const issuedAt = sandbox.clock.now();
  const token = `sandbox-session-${randomBytes(24).toString('hex')}`;
  const expiresAt = issuedAt + parsed.output.expire * 60_000;
  sandbox.sessions.set(token, { token, clientId: client.clientId, issuedAt, expiresAt });
  return c.json({ token });
};
