import { randomUUID } from 'node:crypto';
import type { Entity } from '../entities.ts';
import type { Consent, Sandbox } from '../state.ts';
import { entitiesFor } from './entities-for.ts';

/** A consent in progress: it waits for the consent page, as long as its OTP token lives. */
export const createConsent = (
  sandbox: Sandbox,
  asked: Pick<Consent, 'clientId' | 'owner' | 'locale' | 'entityTypes' | 'products'>,
): Consent => {
  const { id, name, type } = bestEntity(asked);
  const consent: Consent = {
    ...asked,
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

/** The first of the entities with the most of the products. */
const bestEntity = ({ entityTypes, products }: Pick<Consent, 'entityTypes' | 'products'>): Entity => {
  const had = ({ actionTypes }: Entity) => products.filter((product) => actionTypes.includes(product)).length;
  return entitiesFor(entityTypes).reduce((best, entity) => (had(entity) > had(best) ? entity : best));
};
