import { Hono } from 'hono';
import { consentStateAt } from '../consents/consent-state.ts';
import { isAddressAlive, makePdf } from '../pdf/consent-pdf.ts';
import type { Consent, Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';

/** The URL of "Consent PDF". An expired or altered one is answered 403, as by a file store. */
export const consentPdfRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().get('/consent-pdf/:consentId', (c) => {
    const consentId = c.req.param('consentId');
    const consent = sandbox.consents.get(consentId);
    if (consent === undefined || !isAddressAlive(sandbox, consentId, c.req.query())) {
      return c.json({ message: 'The URL has expired, or was altered' }, 403);
    }
    return c.body(makePdf(linesOf(consent, sandbox.clock.now())), 200, {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="consent-${consentId}.pdf"`,
    });
  });

const linesOf = (consent: Consent, now: number): string[] => {
  const { status, subStatus } = consentStateAt(consent, now);
  return [
    'Consent of the provider sandbox (test data)',
    '',
    `Consent: ${consent.consentId}`,
    `Entity: ${consent.entity.name}`,
    `Products: ${consent.products.join(', ')}`,
    `Status: ${status} (${subStatus})`,
    `Valid until: ${new Date(consent.validUntil).toISOString()}`,
  ];
};
