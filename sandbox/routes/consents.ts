import type { Hono } from 'hono';
import * as v from 'valibot';
import { consentOf, consentStateAt, namedConsentOf, setSubStatus } from '../consents/consent-state.ts';
import type { Consent, ConsentOverride, Sandbox } from '../state-types.ts';
import { requireTaskToken } from '../transport/authenticate.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { bodyOf } from '../transport/read-json.ts';
import { consentRefused } from '../transport/refusal.ts';
import { pdfAddress } from './consent-pdf.ts';

const wholeNumber = v.pipe(v.string(), v.regex(/^[1-9]\d*$/), v.transform(Number));
/** The document does not show the filter parameters. Others than these two are accepted and ignored. */
const PageSchema = v.object({
  page: v.exactOptional(wholeNumber, '1'),
  limit: v.exactOptional(wholeNumber, '10'),
});
const RevokeSchema = v.strictObject({ consentId: v.pipe(v.string(), v.uuid()) });

/** "List consents", "Get consent", "Consent PDF" and "Revoke consent", in the order of their creation. */
export const addConsentRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  const { clock } = sandbox;
  const named = (c: SandboxContext, consentId: string): Consent => {
    c.get('call').consentId = consentId;
    return namedConsentOf(sandbox, consentId, c.get('taskToken'));
  };
  app.use('/api/v1/consents/*', requireTaskToken(sandbox));

  app.get('/api/v1/consents', (c) => {
    const { page, limit } = bodyOf(c, PageSchema, JSON.stringify(c.req.query()));
    const all = [...sandbox.consents.values()].filter(
      ({ consentId }) => consentOf(sandbox, consentId, c.get('taskToken')) !== undefined,
    );
    const consents = all.slice((page - 1) * limit, page * limit).map((consent) => ({
      ...consentAnswer(consent, clock.now()),
      ...overrides(consent.listed),
    }));
    return c.json({ data: { consents, hasNext: page * limit < all.length, count: all.length } });
  });

  app.get('/api/v1/consents/:consentId', (c) =>
    c.json({ data: consentAnswer(named(c, c.req.param('consentId')), clock.now()) }),
  );

  app.get('/api/v1/consents/:consentId/pdf', (c) => {
    const { consentId } = named(c, c.req.param('consentId'));
    return c.json({ data: { url: pdfAddress(sandbox, new URL(c.req.url).origin, consentId) } });
  });

  app.post('/api/v1/consents/revoke', (c) => {
    const { consentId } = bodyOf(c, RevokeSchema);
    const consent = named(c, consentId);
    const now = clock.now();
    // "States and transitions", Consent: the condition is an active consent.
    if (consentStateAt(consent, now).status !== 'ACTIVE') {
      throw consentRefused(409, 'CONSENT', 'The consent is not active', 'CONSENT_NOT_ACTIVE');
    }
    setSubStatus(consent, 'REVOKED', now);
    return c.json({ data: { consentId, status: 'INACTIVE', subStatus: 'REVOKED' } });
  });
};

/** The version of the terms and conditions that the consent page shows. */
const TYC_VERSION = 1;

/** A consent in the shape of the document's "Consent". */
const consentAnswer = (consent: Consent, now: number): object => {
  const { consentId: id, products, entity, validUntil } = consent;
  const { status, subStatus, terminatedAt } = consentStateAt(consent, now);
  return {
    id,
    products,
    tyc: { actualVersion: TYC_VERSION },
    entity,
    status,
    subStatus,
    validUntil: new Date(validUntil),
    terminatedAt: terminatedAt === undefined ? undefined : new Date(terminatedAt),
    ...overrides(consent.shown),
  };
};

/** An undefined sub-status is absent from the JSON. */
const overrides = ({ status, subStatus }: ConsentOverride): object => ({
  ...(status === undefined ? {} : { status }),
  ...(subStatus === undefined ? {} : { subStatus: subStatus ?? undefined }),
});
