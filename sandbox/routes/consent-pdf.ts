import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import { consentStateAt } from '../consents/consent-state.ts';
import type { Consent, Sandbox } from '../state-types.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { refused } from '../transport/refusal.ts';

/** "Limits": the consent PDF's signed URL is valid for 5 minutes. */
const VALIDITY_MS = 5 * 60 * 1000;

/** A signed URL of a consent's PDF; it needs no token. */
export const pdfAddress = (sandbox: Sandbox, origin: string, consentId: string): string => {
  const expires = String(sandbox.clock.now() + VALIDITY_MS);
  const signature = signatureOf(sandbox, consentId, expires);
  return `${origin}/consent-pdf/${consentId}?${new URLSearchParams({ expires, signature })}`;
};

/** The URL of "Consent PDF". An expired or altered one is answered 403, as by a file store. */
export const addConsentPdfRoute = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.get('/consent-pdf/:consentId', (c) => {
    const consentId = c.req.param('consentId');
    const { expires = '', signature = '' } = c.req.query();
    const expected = Buffer.from(signatureOf(sandbox, consentId, expires));
    const given = Buffer.from(signature);
    const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
    const now = sandbox.clock.now();
    const consent = sandbox.consents.get(consentId);
    if (consent === undefined || !isSigned || now >= Number(expires)) {
      throw refused(403, { message: 'The URL has expired, or was altered' });
    }
    return c.body(makePdf(linesOf(consent, now)), 200, {
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="consent-${consentId}.pdf"`,
    });
  });
};

const signatureOf = (sandbox: Sandbox, consentId: string, expires: string): string =>
  createHmac('sha256', sandbox.signingSecret).update(`${consentId}\n${expires}`).digest('hex');

/** A PDF 1.4 of one page with these lines, in a standard font. Non-ASCII characters become `?`. */
const makePdf = (lines: readonly string[]): string => {
  const content = `BT /F1 12 Tf 16 TL 56 780 Td ${lines.map((line) => `(${escaped(line)}) '`).join(' ')} ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    // A4, in points.
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ];
  let file = '%PDF-1.4\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  // An entry of the cross-reference table has 20 bytes, with its line end.
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  return (
    `${file}xref\n0 ${count}\n0000000000 65535 f \n${entries}` +
    `trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  );
};

const escaped = (line: string): string =>
  line.replace(/[^\x20-\x7e]/g, '?').replace(/[\\()]/g, String.raw`\$&`);

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
