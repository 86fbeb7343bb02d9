import type { Consent, ShownInstead } from '../state.ts';
import { consentStateAt } from './consent-state.ts';

/** The version of the terms and conditions that the consent page shows. */
const TYC_VERSION = 1;

/** A Consent as "Consent" of the document has it. */
export const consentAnswer = (consent: Consent, now: number): object => ({
  ...truth(consent, now),
  ...shownOver(consent.shown),
});

/** Likewise as an item of the list, where oddities of its own may hold. */
export const consentListItem = (consent: Consent, now: number): object => ({
  ...consentAnswer(consent, now),
  ...shownOver(consent.listed),
});

const truth = (consent: Consent, now: number): object => {
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

/** A sub-status of undefined is left out of the JSON. */
const shownOver = ({ status, subStatus }: ShownInstead): object => ({
  ...(status === undefined ? {} : { status }),
  ...(subStatus === undefined ? {} : { subStatus: subStatus ?? undefined }),
});
