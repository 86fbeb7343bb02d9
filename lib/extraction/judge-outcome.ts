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
 * @param outcome a status and why, as `outcomeText` returns it: `REJECTED http-500`
 */
export const judgeOutcome = (outcome: string): Judgement => {
  if (outcome === 'COMPLETED') return 'well';
  const [status = '', why] = outcome.split(' ');
  const advice = adviceOf({ status, reason: why, lastProblem: why });
  if (advice === 'ask-user' || advice === 'renew-consent') return 'user';
  return advice === 'fix-request' ? 'caller' : 'failed';
};

type Ended = { readonly status: string; readonly reason?: string; readonly lastProblem?: string };

/** The status, followed by why, if that is known. The reason of `NOT_STARTED` is only that its time was over. */
export const outcomeText = ({ status, reason, lastProblem }: Ended): string => {
  const why = status === 'NOT_STARTED' ? (lastProblem ?? reason) : reason;
  return why === undefined ? status : `${status} ${why}`;
};
