import type { Identity } from '../credentials/read-credentials.ts';
import { type Outcome, outcomeForStatus, outcomeOf } from '../outcomes.ts';
import type { Plan } from '../plan.ts';
import type { TerminalStatus } from '../task-vocabulary.ts';

/** The outcome of a task: by `status` if given, else by the outcome table. Planned action errors are added. */
export const plannedOutcome = (
  { username, businessId }: Identity,
  plan: Plan,
  status: TerminalStatus | undefined = plan.outcome,
): Outcome => {
  const outcome = status === undefined ? outcomeOf(username, businessId) : outcomeForStatus(status);
  if (outcome.kind === 'credentials' || plan.actionErrors === undefined) return outcome;
  return { kind: 'actions', actionErrors: { ...outcome.actionErrors, ...plan.actionErrors } };
};
