import type { HistoryEvent } from '../../../support/follow-execution.ts';

/**
 * The billed transitions of a history: "each time a step of your workflow is executed … including retries"
 * (https://aws.amazon.com/step-functions/pricing/). Each entered state is one, and each retry of a task is one.
 */
export const transitionsIn = (history: readonly HistoryEvent[]) => {
  const count = (type: RegExp) => history.filter((event) => type.test(event.type ?? '')).length;
  const entered = count(/StateEntered$/);
  const retries = count(/^(Task|LambdaFunction)Scheduled$/) - count(/^TaskStateEntered$/);
  return { entered, retries };
};

/** The additional transitions if Start and End count, one each for every execution. */
export const startAndEnd = 2;
