import type { Consent, Sandbox, TaskToken } from '../state.ts';

/** The consent, if the Task Token may read it: the token "only reaches data of the user it is bound to". */
export const consentOf = (sandbox: Sandbox, consentId: string, taskToken: TaskToken): Consent | undefined => {
  const consent = sandbox.consents.get(consentId);
  return consent?.clientId === taskToken.clientId && consent.owner === taskToken.target ? consent : undefined;
};
