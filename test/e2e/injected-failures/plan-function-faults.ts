import { inject } from 'vitest';
import { waitMs } from '../time-limits.ts';
import type { AwsCall, InjectedFailure } from './failures-of-aws-calls.ts';
import type { FaultRule } from './fault-rule.ts';
import { type PlannedFault, planFaultIn } from './plan-fault.ts';

/** Plans a fault of the functions under test. */
export const planFault = (rule: FaultRule): Promise<PlannedFault> =>
  planFaultIn(inject('cosecha').faultsDirectory, rule);

/** Plans that a call of the invocation whose event contains these texts fails. */
export const planFailure = (
  { operation, contains = [] }: Pick<AwsCall, 'operation' | 'contains'>,
  { when, times, effect }: InjectedFailure,
  during: readonly string[],
): Promise<PlannedFault> => planFault({ operation, contains, during, when, times, effect });

/** Repeats `attempt` until the fault was injected. For calls that a function may skip, or fail before, on a busy machine. */
export const untilInjected = async <T>(fault: PlannedFault, attempt: () => Promise<T>): Promise<T> => {
  const deadline = Date.now() + waitMs;
  let result = await attempt();
  while (!fault.wasInjected() && Date.now() < deadline) result = await attempt();
  if (!fault.wasInjected()) throw new Error(`The fault was not injected in ${waitMs} ms.`);
  return result;
};
