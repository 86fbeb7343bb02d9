import type { HistoryEvent } from '../../../../infra/local/demo/follow-execution.ts';

/**
 * What AWS bills of a history: "each time a step of your workflow is executed … including retries"
 * (https://aws.amazon.com/step-functions/pricing/). Each state entered is one; each attempt at a task after its first
 * is another.
 */
export const transitionsIn = (history: readonly HistoryEvent[]) => {
  const count = (type: RegExp) => history.filter((event) => type.test(event.type ?? '')).length;
  const entered = count(/StateEntered$/);
  const retries = count(/^(Task|LambdaFunction)Scheduled$/) - count(/^TaskStateEntered$/);
  return { entered, retries };
};

/** Should Start and End count: a step each, in every execution. */
export const startAndEnd = 2;
