import { adviceOf } from './advice.ts';

/**
 * `failed`: the service, the provider or the bank did, and it counts against the share that the alarms watch
 * (docs/operations.md). `user`: the user can mend it, such as a wrong password. `caller`: the caller's code can.
 */
export type Judgement = 'well' | 'user' | 'caller' | 'failed';

/**
 * How an extraction ended. This is the only place that decides it: alarms, `health` and the console ask here. It follows from the
 * advice that an outcome gives when it is recorded. That of `COMPLETED` comes with its results.
 *
 * @param outcome a status, followed by its reason if it has one: `REJECTED http-500`
 */
export const judgeOutcome = (outcome: string, lastProblem?: string): Judgement => {
  if (outcome === 'COMPLETED') return 'well';
  const [status = '', reason] = outcome.split(' ');
  const advice = adviceOf({ status, reason, lastProblem });
  if (advice === 'ask-user' || advice === 'renew-consent') return 'user';
  return advice === 'fix-request' ? 'caller' : 'failed';
};

/** The status, followed by its reason if it has one. */
export const outcomeText = ({ status, reason }: { readonly status: string; readonly reason?: string }) =>
  reason === undefined ? status : `${status} ${reason}`;
