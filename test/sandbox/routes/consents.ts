import { Hono } from 'hono';
import * as v from 'valibot';
import { consentAnswer, consentListItem } from '../consents/consent-answer.ts';
import { consentOf, consentStateAt, namedConsentOf, setSubStatus } from '../consents/consent-state.ts';
import { pdfAddress } from '../pdf/consent-pdf.ts';
import type { Sandbox } from '../state-types.ts';
import { requireTaskToken } from '../transport/authenticate.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { readJson } from '../transport/read-json.ts';
import { refusal } from '../transport/refusal.ts';

const wholeNumber = v.pipe(v.string(), v.regex(/^[1-9]\d*$/), v.transform(Number));
/** The document does not show the filter parameters. Others than these two are accepted and ignored. */
const PageSchema = v.object({
  page: v.exactOptional(wholeNumber, '1'),
  limit: v.exactOptional(wholeNumber, '10'),
});
const RevokeSchema = v.strictObject({ consentId: v.pipe(v.string(), v.uuid()) });

/** "List consents", "Get consent", "Consent PDF" and "Revoke consent", in the order of their creation. */
export const consentRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();
  app.use('/api/v1/consents/*', requireTaskToken(sandbox));

  app.get('/api/v1/consents', (c) => {
    const parsed = v.safeParse(PageSchema, c.req.query());
    if (!parsed.success) {
      const invalid = parsed.issues.map((issue) => v.getDotPath(issue) ?? '');
      return refusal(c, 400, 'INVALID_REQUEST', 'Invalid request', { invalid });
    }
    const { page, limit } = parsed.output;
    const all = [...sandbox.consents.values()].filter(
      ({ consentId }) => consentOf(sandbox, consentId, c.get('taskToken')) !== undefined,
    );
    const now = sandbox.clock.now();
    const consents = all.slice((page - 1) * limit, page * limit).map((each) => consentListItem(each, now));
    return c.json({ data: { consents, hasNext: page * limit < all.length, count: all.length } });
  });

  app.get('/api/v1/consents/:consentId', (c) => {
    const consent = readableConsent(sandbox, c, c.req.param('consentId'));
    if (consent === undefined) return notFound(c);
    return c.json({ data: consentAnswer(consent, sandbox.clock.now()) });
  });

  app.get('/api/v1/consents/:consentId/pdf', (c) => {
    const consent = readableConsent(sandbox, c, c.req.param('consentId'));
    if (consent === undefined) return notFound(c);
    return c.json({ data: { url: pdfAddress(sandbox, new URL(c.req.url).origin, consent.consentId) } });
  });

  app.post('/api/v1/consents/revoke', (c) => {
    const parsed = readJson(c.get('body'), RevokeSchema);
    if (!parsed.valid) {
      return refusal(c, 400, 'INVALID_REQUEST', 'Invalid request', { invalid: parsed.invalid });
    }
    const consent = readableConsent(sandbox, c, parsed.output.consentId);
    if (consent === undefined) return notFound(c);
    const now = sandbox.clock.now();
    // "States and transitions", Consent: the condition is an active consent.
    if (consentStateAt(consent, now).status !== 'ACTIVE') {
      return refusal(c, 409, 'CONSENT', 'The consent is not active', { errorCode: 'CONSENT_NOT_ACTIVE' });
    }
    setSubStatus(consent, 'REVOKED', now);
    return c.json({ data: { consentId: consent.consentId, status: 'INACTIVE', subStatus: 'REVOKED' } });
  });

  return app;
};

const readableConsent = (sandbox: Sandbox, c: SandboxContext, consentId: string) => {
  c.get('call').consentId = consentId;
  return namedConsentOf(sandbox, consentId, c.get('taskToken'));
};

/** The same for another user's consent and for an unknown one. */
const notFound = (c: SandboxContext): Response =>
  refusal(c, 404, 'CONSENT', 'There is no such consent', { errorCode: 'CONSENT_NOT_FOUND' });
