import type { MachineDefinition } from '../../../infra/extraction-machine-definition.ts';

type Retrier = MachineDefinition['States']['StartTask']['Retry'][number];

/** The error name of an invocation that threw, or ended: the `errorType` of Lambda's answer. */
export const errorNameOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');

/** `States.TaskFailed` "matches any error except for States.Timeout" (Step Functions guide, "Error names"). */
const matches = (names: readonly string[], error: string): boolean =>
  [error, 'States.ALL', ...(error === 'States.Timeout' ? [] : ['States.TaskFailed'])].some((name) =>
    names.includes(name),
  );

export type Retries = (
  error: string,
) => { readonly milliseconds: number; readonly isJittered: boolean } | undefined;

/** The retries of one state, from its entry on: after each error the pause, or undefined if the state has failed. */
export const retriesOf = (retriers: readonly Retrier[]): Retries => {
  const tried = new Map<Retrier, number>();
  return (error) => {
    const retrier = retriers.find(({ ErrorEquals }) => matches(ErrorEquals, error));
    const times = retrier === undefined ? 0 : (tried.get(retrier) ?? 0);
    if (retrier === undefined || times >= retrier.MaxAttempts) return undefined;
    tried.set(retrier, times + 1);
    const { IntervalSeconds, BackoffRate, MaxDelaySeconds = Number.POSITIVE_INFINITY } = retrier;
    const seconds = Math.min(IntervalSeconds * BackoffRate ** times, MaxDelaySeconds);
    return { milliseconds: seconds * 1_000, isJittered: retrier.JitterStrategy === 'FULL' };
  };
};
