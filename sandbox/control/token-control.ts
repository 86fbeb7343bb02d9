import type { Hono } from 'hono';
import * as v from 'valibot';
import type { Sandbox, Token } from '../state-types.ts';
import { fingerprintOf } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { readBody } from './read-body.ts';

const ExpireSchema = v.strictObject({
  kind: v.exactOptional(v.picklist(['session', 'otp', 'task'])),
  clientId: v.exactOptional(v.string()),
});
export type TokensToExpire = v.InferInput<typeof ExpireSchema>;

/** A token without its value. The fingerprint is the `bearer` of its calls. */
const tokenView = (token: Token) => ({
  kind: token.kind,
  fingerprint: fingerprintOf(token.token),
  clientId: token.clientId,
  expiresAt: new Date(token.expiresAt).toISOString(),
  used: token.kind === 'otp' ? token.used : undefined,
});
export type TokenView = ReturnType<typeof tokenView>;

/** Lists session tokens, OTP tokens and Task Tokens, and expires them. */
export const addTokenControl = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.get('/tokens', (c) => c.json([...sandbox.tokens.values()].map(tokenView)));

  app.post('/tokens/expire', async (c) => {
    const { kind, clientId } = await readBody(c, ExpireSchema);
    const now = sandbox.clock.now();
    const alive = [...sandbox.tokens.values()].filter(
      (token) =>
        (kind === undefined || kind === token.kind) &&
        (clientId === undefined || clientId === token.clientId) &&
        token.expiresAt > now,
    );
    for (const token of alive) token.expiresAt = now;
    return c.json({ expired: alive.length });
  });
};
