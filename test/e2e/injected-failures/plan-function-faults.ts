import { inject } from 'vitest';
import { waitMs } from '../time-limits.ts';
import type { FaultRule } from './fault-rule.ts';
import { type PlannedFault, planFaultIn } from './plan-fault.ts';

export type { PlannedFault };

/** Plans a fault of the functions under test. */
export const planFault = (rule: FaultRule): Promise<PlannedFault> =>
  planFaultIn(inject('cosecha').faultsDirectory, rule);

/**
 * Plans that every such request kills its process, until it is cancelled. For a fault of a call that only a new process makes:
 * a later request of the same invocation is killed, until a new process has made the call.
 */
export const planKills = (
  rule: Pick<FaultRule, 'operation' | 'contains' | 'during'>,
): Promise<PlannedFault> => planFault({ ...rule, when: 'before', times: 10_000, effect: { kind: 'exit' } });

/** Repeats `attempt` until the fault was injected. For calls that a function may skip, or fail before, on a busy machine. */
export const untilInjected = async <T>(fault: PlannedFault, attempt: () => Promise<T>): Promise<T> => {
  const deadline = Date.now() + waitMs;
  let result = await attempt();
  while (!fault.wasInjected() && Date.now() < deadline) result = await attempt();
  if (!fault.wasInjected()) throw new Error(`The fault was not injected in ${waitMs} ms.`);
  return result;
};
