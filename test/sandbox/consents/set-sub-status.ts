import type { Consent, SubStatus } from '../state.ts';

/** Brings a consent into the state of a sub-status; one that makes it INACTIVE terminates it at `at`. */
export function setSubStatus(consent: Consent, subStatus: SubStatus, at: number): void {
  consent.subStatus = subStatus;
  if (isTerminal(subStatus)) consent.terminatedAt = at;
  else delete consent.terminatedAt;
}

export function isTerminal(subStatus: SubStatus): subStatus is Exclude<SubStatus, 'ACTIVE' | 'IN_PROGRESS'> {
  return subStatus !== 'ACTIVE' && subStatus !== 'IN_PROGRESS';
}
