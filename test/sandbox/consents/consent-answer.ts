import type { Consent, ConsentOverride } from '../state-types.ts';
import { consentStateAt } from './consent-state.ts';

/** The version of the terms and conditions that the consent page shows. */
const TYC_VERSION = 1;

/** A consent in the shape of the document's "Consent". */
export const consentAnswer = (consent: Consent, now: number): object => ({
  ...actualState(consent, now),
  ...overrides(consent.shown),
});

/** A consent as a list item, which may have overrides of its own. */
export const consentListItem = (consent: Consent, now: number): object => ({
  ...consentAnswer(consent, now),
  ...overrides(consent.listed),
});

const actualState = (consent: Consent, now: number): object => {
  const { status, subStatus, terminatedAt } = consentStateAt(consent, now);
  return {
    id: consent.consentId,
    products: consent.products,
    tyc: { actualVersion: TYC_VERSION },
    entity: consent.entity,
    status,
    subStatus,
    validUntil: new Date(consent.validUntil).toISOString(),
    ...(terminatedAt === undefined ? {} : { terminatedAt: new Date(terminatedAt).toISOString() }),
  };
};

/** An undefined sub-status is absent from the JSON. */
const overrides = ({ status, subStatus }: ConsentOverride): object => ({
  ...(status === undefined ? {} : { status }),
  ...(subStatus === undefined ? {} : { subStatus: subStatus ?? undefined }),
});
