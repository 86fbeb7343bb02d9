import { randomUUID } from 'node:crypto';
import type { Entity } from '../entities.ts';
import type { Consent, Sandbox } from '../state.ts';
import { entitiesFor } from './entities-for.ts';

/** Creates a consent in progress, which can be decided until its OTP token expires. */
export const createConsent = (
  sandbox: Sandbox,
  request: Pick<Consent, 'clientId' | 'owner' | 'locale' | 'entityTypes' | 'products'>,
): Consent => {
  const { id, name, type } = bestEntity(request);
  const consent: Consent = {
    ...request,
    consentId: randomUUID(),
    entity: { id, name, type },
    subStatus: 'IN_PROGRESS',
    validUntil: sandbox.clock.now() + sandbox.settings.otpTokenLifeMs,
    shown: {},
    listed: {},
  };
  sandbox.consents.set(consent.consentId, consent);
  return consent;
};

/** The entity with the most of the products, and of several the first. */
const bestEntity = ({ entityTypes, products }: Pick<Consent, 'entityTypes' | 'products'>): Entity => {
  const countOf = ({ actionTypes }: Entity) =>
    products.filter((product) => actionTypes.includes(product)).length;
  return entitiesFor(entityTypes).reduce((best, entity) => (countOf(entity) > countOf(best) ? entity : best));
};
