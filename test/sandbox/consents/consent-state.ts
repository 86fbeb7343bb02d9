import type { Consent, SubStatus } from '../state.ts';
import { isTerminal } from './set-sub-status.ts';

export type ConsentState = {
  readonly status: 'ACTIVE' | 'IN_PROGRESS' | 'INACTIVE';
  readonly subStatus: SubStatus;
  /** Only of a terminated consent. */
  readonly terminatedAt?: number;
};

/** A consent that is not terminated expires by itself at its `validUntil`. */
export const consentStateAt = (
  { subStatus, validUntil, terminatedAt }: Consent,
  now: number,
): ConsentState => {
  if (isTerminal(subStatus)) {
    return {
      status: 'INACTIVE',
      subStatus,
      ...(terminatedAt === undefined ? {} : { terminatedAt }),
    };
  }
  if (now >= validUntil) return { status: 'INACTIVE', subStatus: 'EXPIRED', terminatedAt: validUntil };
  return { status: subStatus, subStatus };
};
