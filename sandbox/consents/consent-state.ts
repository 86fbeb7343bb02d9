import { randomUUID } from 'node:crypto';
import { ENTITIES, type Entity, type EntityType, type Product } from '../entities.ts';
import type { Consent, Sandbox, SubStatus, TaskToken } from '../state-types.ts';
import { consentRefused } from '../transport/refusal.ts';

/** The state of a consent. Unless terminated, it expires at `validUntil`. Only a terminated one has `terminatedAt`. */
export const consentStateAt = ({ subStatus, validUntil, terminatedAt }: Consent, now: number) => {
  if (isTerminal(subStatus)) return { status: 'INACTIVE', subStatus, terminatedAt } as const;
  if (now < validUntil) return { status: subStatus, subStatus, terminatedAt: undefined } as const;
  return { status: 'INACTIVE', subStatus: 'EXPIRED', terminatedAt: validUntil } as const;
};

/** Sets the sub-status of a consent. If it makes the consent INACTIVE, the consent is terminated at `at`. */
export const setSubStatus = (consent: Consent, subStatus: SubStatus, at: number): void => {
  consent.subStatus = subStatus;
  if (isTerminal(subStatus)) consent.terminatedAt = at;
  else delete consent.terminatedAt;
};

const isTerminal = (subStatus: SubStatus): subStatus is Exclude<SubStatus, 'ACTIVE' | 'IN_PROGRESS'> =>
  subStatus !== 'ACTIVE' && subStatus !== 'IN_PROGRESS';

/** The consent, if the Task Token may read it: the token "only reaches data of the user it is bound to". */
export const consentOf = (sandbox: Sandbox, consentId: string, taskToken: TaskToken): Consent | undefined => {
  const consent = sandbox.consents.get(consentId);
  return consent?.clientId === taskToken.clientId && consent.owner === taskToken.target ? consent : undefined;
};

/** The same for a call that names the consent. It may be the first after which the consent has ended. */
export const namedConsentOf = (sandbox: Sandbox, consentId: string, taskToken: TaskToken): Consent => {
  const consent = consentOf(sandbox, consentId, taskToken);
  // The same for another user's consent and for an unknown one.
  if (consent === undefined) {
    throw consentRefused(404, 'CONSENT', 'There is no such consent', 'CONSENT_NOT_FOUND');
  }
  if (consent.ends === undefined) return consent;
  if (consent.ends.callsLeft === 0) {
    setSubStatus(consent, consent.ends.subStatus, sandbox.clock.now());
    delete consent.ends;
  } else {
    consent.ends.callsLeft -= 1;
  }
  return consent;
};

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

/** The entities that a user may choose from. Each type has one, so there is at least one. */
export const entitiesFor = (types: readonly EntityType[] | undefined): readonly [Entity, ...Entity[]] => {
  const [first, ...others] = ENTITIES.filter((entity) => types === undefined || types.includes(entity.type));
  if (first === undefined) throw new RangeError('No entity of the catalogue has one of these types');
  return [first, ...others];
};
