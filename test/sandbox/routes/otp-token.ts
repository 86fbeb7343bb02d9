import { Hono } from 'hono';
import { createConsent } from '../consents/consent-state.ts';
import { parseOtpRequest } from '../consents/parse-otp-request.ts';
import type { Sandbox } from '../state-types.ts';
import { issueOtpToken } from '../tokens/issue-token.ts';
import { requireApiKey } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';

/** "Create OTP token": creates a consent in progress, and the token that opens its page. */
export const otpTokenRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  return new Hono<SandboxEnv>().post('/api/v1/token/otp/create', requireApiKey(sandbox), (c) => {
    const client = c.get('client');
    const parsed = parseOtpRequest(c.get('body'), client);
    if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.invalid }, 400);
    const { clientId, user, company, products, locale, filters } = parsed.output;
    // The API key identifies the client. Another client's id is refused.
    if (clientId !== client.clientId) return c.json({ message: 'Forbidden' }, 403);
    const types = filters?.entities?.include?.types ?? [];
    const consent = createConsent(sandbox, {
      clientId,
      owner: company?.id ?? user.username,
      locale,
      entityTypes: types.length === 0 ? undefined : types,
      products: [...new Set(products)],
    });
    const { consentId, validUntil } = consent;
    const call = c.get('call');
    call.username = consent.owner;
    call.consentId = consentId;
    const { token } = issueOtpToken(sandbox, { consentId, clientId, expiresAt: validUntil });
    return c.json({ data: { otpToken: token, consentId } });
  });
};
