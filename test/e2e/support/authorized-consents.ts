import type { Plan } from '../../../sandbox/plan-schemas.ts';
import { type Body, provider } from './call-extractions.ts';
import { uniqueNationalId } from './searched-secrets.ts';

export type Authorized = { readonly target: string; readonly consentId: string };

/** An authorized consent of a new user, for whom the provider behaves as planned. */
export const authorized = async (plan: Plan = {}): Promise<Authorized> => {
  const target = uniqueNationalId();
  await provider.setPlan(target, plan);
  const { consentId } = await provider.createConsent({ owner: target, products: ['movement', 'tef'] });
  return { target, consentId };
};

/** A valid request for an extraction under that consent. */
export const consentRequest = ({ target, consentId }: Authorized, more: Body = {}): Body => ({
  method: 'consent',
  product: 'movement',
  consentId,
  target,
  ...more,
});
