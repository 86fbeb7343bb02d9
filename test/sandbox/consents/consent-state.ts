import type { Consent, SubStatus } from '../state.ts';
import { isTerminal } from './set-sub-status.ts';

export type ConsentState = {
  readonly status: 'ACTIVE' | 'IN_PROGRESS' | 'INACTIVE';
  readonly subStatus: SubStatus;
  /** Present on a terminated consent only. */
  readonly terminatedAt?: number;
};

/** The state of a consent. Unless terminated, it expires at `validUntil`. */
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
