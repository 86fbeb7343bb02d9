import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import * as v from 'valibot';
import type { LoginBehaviour } from '../plan.ts';
import type { Client, Sandbox } from '../state.ts';
import { holdSilent } from '../transport/hold-silent.ts';
import { plannedAnswer } from '../transport/planned-answer.ts';
import { resetConnection } from '../transport/reset-connection.ts';
import type { SandboxContext, SandboxEnv } from '../transport/wire.ts';

/** "Session token". The upper bound of `expire` is "not shown": there is none. */
const LoginSchema = v.strictObject({
  expire: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)), 60),
});

export function loginRoutes(sandbox: Sandbox): Hono<SandboxEnv> {
  return new Hono<SandboxEnv>().post('/api/v1/auth/login', (c) => {
    const apiKey = c.req.header('x-api-key');
    const client = [...sandbox.clients.values()].find((candidate) => candidate.apiKey === apiKey);
    if (client === undefined) return c.json({ message: 'Unauthorized' }, 401);
    c.get('call').clientId = client.clientId;
    c.get('announce')();
    const behaviour = client.loginBehaviours.shift();
    return behaviour === undefined ? login(sandbox, client, c) : misbehave(behaviour, c);
  });
}

function login(sandbox: Sandbox, client: Client, c: SandboxContext): Response {
  const parsed = v.safeParse(LoginSchema, bodyOf(c.get('body')));
  if (!parsed.success) return c.json({ message: 'Invalid request', invalid: ['expire'] }, 400);
  const issuedAt = sandbox.clock.now();
  const token = `sandbox-session-${randomBytes(24).toString('hex')}`;
  const expiresAt = issuedAt + parsed.output.expire * 60_000;
  sandbox.sessions.set(token, { token, clientId: client.clientId, issuedAt, expiresAt });
  return c.json({ token });
}

/** The only field is optional, so no body is a body without it. */
function bodyOf(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function misbehave(behaviour: LoginBehaviour, c: SandboxContext): Response | Promise<Response> {
  switch (behaviour.kind) {
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'reset':
      return resetConnection(c);
  }
}
