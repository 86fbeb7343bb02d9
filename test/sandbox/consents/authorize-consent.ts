import type { Entity } from '../entities.ts';
import type { Product } from '../product-vocabulary.ts';
import type { Consent, Sandbox } from '../state.ts';

/** Authorizes a consent for an entity and products, as the user does on the consent page. */
export const authorizeConsent = (
  sandbox: Sandbox,
  consent: Consent,
  { id, name, type }: Entity,
  products: readonly Product[],
): void => {
  consent.entity = { id, name, type };
  consent.products = products;
  consent.subStatus = 'ACTIVE';
  consent.validUntil = sandbox.clock.now() + sandbox.settings.consentLifeMs;
};
