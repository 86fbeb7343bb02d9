import * as v from 'valibot';
import { PRODUCTS } from '../product-vocabulary.ts';
import type { Sandbox } from '../state-types.ts';
import type { SandboxContext } from '../transport/hono-types.ts';
import { readJson } from '../transport/read-json.ts';
import { refusal } from '../transport/refusal.ts';
import { consentStateAt, namedConsentOf } from './consent-state.ts';

const ExtractionSchema = v.strictObject({
  product: v.picklist(PRODUCTS),
  consentId: v.pipe(v.string(), v.uuid()),
});

/**
 * Checks that the request names a product that the Task Token's user has authorized in an active consent. Returns the
 * refusal if not.
 */
export const checkExtraction = (sandbox: Sandbox, c: SandboxContext) => {
  const parsed = readJson(c.get('body'), ExtractionSchema);
  if (!parsed.valid) {
    return refusal(c, 400, 'INVALID_REQUEST', 'Invalid request', { invalid: parsed.invalid });
  }
  const { product, consentId } = parsed.output;
  c.get('call').consentId = consentId;
  c.get('reportReceived')();
  const consent = namedConsentOf(sandbox, consentId, c.get('taskToken'));
  if (consent === undefined) {
    return refusal(c, 404, 'CONSENT', 'There is no such consent', { errorCode: 'CONSENT_NOT_FOUND' });
  }
  if (consentStateAt(consent, sandbox.clock.now()).status !== 'ACTIVE') {
    return refusal(c, 403, 'CONSENT', 'The consent is not active', { errorCode: 'CONSENT_NOT_ACTIVE' });
  }
  if (!consent.products.includes(product)) {
    const errorCode = 'PRODUCT_NOT_AUTHORIZED';
    return refusal(c, 403, 'CONSENT', 'The user has not authorized this product', { errorCode });
  }
  return { product, consentId, entityId: consent.entity.id };
};
