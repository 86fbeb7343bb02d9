import type { Consent, SubStatus } from '../state.ts';

/** Brings a consent into the state of a sub-status; one that makes it INACTIVE terminates it at `at`. */
export const setSubStatus = (consent: Consent, subStatus: SubStatus, at: number): void => {
  consent.subStatus = subStatus;
  if (isTerminal(subStatus)) consent.terminatedAt = at;
  else delete consent.terminatedAt;
};

export const isTerminal = (subStatus: SubStatus): subStatus is Exclude<SubStatus, 'ACTIVE' | 'IN_PROGRESS'> =>
  subStatus !== 'ACTIVE' && subStatus !== 'IN_PROGRESS';
