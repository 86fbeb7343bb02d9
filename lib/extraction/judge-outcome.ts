/**
 * `failed`: the service, the provider or the bank did, and it counts against the share that the alarms watch
 * (docs/operations.md). `user`: the user can mend it, such as a wrong password. `caller`: the caller's code can.
 */
export type Judgement = 'well' | 'user' | 'caller' | 'failed';

const byUser =
  /^(?:CREDENTIALS_(?:WRONG|LOCKED)|REJECTED (?:user-restricted|credentials-refused-before|consent-[a-z-]+))$/;
const byCaller = /^REJECTED (?:http-400|http-422|invalid-request|session-token-refused)$/;

/**
 * How an extraction ended. This is the only place that decides it: alarms, `health` and the console ask here.
 *
 * @param outcome a status, followed by its reason if it has one: `REJECTED http-500`
 */
export const judgeOutcome = (outcome: string): Judgement => {
  if (outcome === 'COMPLETED') return 'well';
  if (byUser.test(outcome)) return 'user';
  return byCaller.test(outcome) ? 'caller' : 'failed';
};

/** The status, followed by its reason if it has one. */
export const outcomeText = ({ status, reason }: { readonly status: string; readonly reason?: string }) =>
  reason === undefined ? status : `${status} ${reason}`;
