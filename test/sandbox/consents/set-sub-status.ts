import type { Consent, SubStatus } from '../state.ts';

/** Sets the sub-status of a consent. If it makes the consent INACTIVE, the consent is terminated at `at`. */
export const setSubStatus = (consent: Consent, subStatus: SubStatus, at: number): void => {
  consent.subStatus = subStatus;
  if (isTerminal(subStatus)) consent.terminatedAt = at;
  else delete consent.terminatedAt;
};

export const isTerminal = (subStatus: SubStatus): subStatus is Exclude<SubStatus, 'ACTIVE' | 'IN_PROGRESS'> =>
  subStatus !== 'ACTIVE' && subStatus !== 'IN_PROGRESS';
