import { Hono } from 'hono';
import * as v from 'valibot';
import type { Sandbox } from '../state-types.ts';
import { fingerprintOf } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { readBody } from './read-body.ts';

const KINDS = ['session', 'otp', 'task'] as const;
const ExpireSchema = v.strictObject({
  kind: v.exactOptional(v.picklist(KINDS)),
  clientId: v.exactOptional(v.string()),
});
export type TokensToExpire = v.InferInput<typeof ExpireSchema>;

/** A token without its value. Times are ISO 8601. */
export type TokenView = {
  readonly kind: (typeof KINDS)[number];
  /** The same as `bearer` of a call. */
  readonly fingerprint: string;
  readonly clientId: string;
  readonly expiresAt: string;
  readonly used?: boolean;
};

/** Lists session tokens, OTP tokens and Task Tokens, and expires them. */
export const tokenControl = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.get('/tokens', (c) =>
    c.json(
      tokensOf(sandbox).map(({ kind, token: { token, clientId, expiresAt, used } }) => ({
        kind,
        fingerprint: fingerprintOf(token),
        clientId,
        expiresAt: new Date(expiresAt).toISOString(),
        used,
      })),
    ),
  );

  app.post('/tokens/expire', async (c) => {
    const { kind, clientId } = await readBody(c, ExpireSchema);
    const now = sandbox.clock.now();
    const alive = tokensOf(sandbox).filter(
      (each) =>
        (kind === undefined || kind === each.kind) &&
        (clientId === undefined || clientId === each.token.clientId) &&
        each.token.expiresAt > now,
    );
    for (const { token } of alive) token.expiresAt = now;
    return c.json({ expired: alive.length });
  });

  return app;
};

type AnyToken = {
  readonly token: string;
  readonly clientId: string;
  expiresAt: number;
  readonly used?: boolean;
};

const tokensOf = (
  sandbox: Sandbox,
): readonly { readonly kind: TokenView['kind']; readonly token: AnyToken }[] => [
  ...[...sandbox.sessions.values()].map((token) => ({ kind: 'session' as const, token })),
  ...[...sandbox.otpTokens.values()].map((token) => ({ kind: 'otp' as const, token })),
  ...[...sandbox.taskTokens.values()].map((token) => ({ kind: 'task' as const, token })),
];
