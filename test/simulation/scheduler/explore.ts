import { type Budget, spend } from './budget.ts';
import type { OptionList } from './option.ts';
import type { Choose } from './run-schedule.ts';
import type { Departure, Schedule } from './schedule.ts';

/** A schedule that was run, with the cost of each option after its last departure. */
type Explored = {
  readonly schedule: Schedule;
  readonly left: Budget;
  readonly firstStep: number;
  readonly costs: readonly Uint8Array[];
};

/** Follows a schedule, and notes the cost of every option after its last departure. */
const followAndNote = (schedule: Schedule, costs: Uint8Array[]): Choose => {
  const last = schedule.at(-1)?.step ?? -1;
  let next = 0;
  return (step: number, options: OptionList): number => {
    if (step > last) {
      costs.push(Uint8Array.from(options.costs));
      return 0;
    }
    const departure = schedule[next];
    if (departure?.step !== step) return 0;
    next += 1;
    if (departure.index >= options.size) throw new UnsteadyWorld(schedule);
    return departure.index;
  };
};

/** A schedule had another result when it was repeated: the scheduler does not control everything in the world. */
export class UnsteadyWorld extends Error {
  override readonly name = 'UnsteadyWorld';

  constructor(schedule: Schedule) {
    super(`The schedule ${JSON.stringify(schedule)} could not be repeated.`);
  }
}

/**
 * Runs every schedule within the budget once, depth first. From each schedule that was run, it adds one departure at every
 * later step, in every way that the budget allows. The parent of a schedule is the schedule without its last departure, so
 * that none is missed and none is repeated. Ends early if `run` returns `stop`. Returns whether it ran all.
 */
export const explore = async (
  budget: Budget,
  run: (schedule: Schedule, choose: Choose) => Promise<'go on' | 'stop'>,
): Promise<boolean> => {
  const visit = async (schedule: Schedule, left: Budget): Promise<Explored | undefined> => {
    const costs: Uint8Array[] = [];
    const goOn = (await run(schedule, followAndNote(schedule, costs))) === 'go on';
    return goOn ? { schedule, left, firstStep: (schedule.at(-1)?.step ?? -1) + 1, costs } : undefined;
  };

  const root = await visit(budget.after ?? [], budget);
  if (root === undefined) return false;
  const open: Iterator<{ readonly departure: Departure; readonly left: Budget; readonly from: Explored }>[] =
    [departuresOf(root, budget.from)];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { done, value } = top.next();
    if (done === true) {
      open.pop();
      continue;
    }
    const explored = await visit([...value.from.schedule, value.departure], value.left);
    if (explored === undefined) return false;
    if (value.left.departures > 0) open.push(departuresOf(explored));
  }
  return true;
};

function* departuresOf(from: Explored, firstStep = 0) {
  for (const [offset, costs] of from.costs.entries()) {
    if (from.firstStep + offset < firstStep) continue;
    for (let index = 1; index < costs.length; index += 1) {
      const left = spend(from.left, costs[index] ?? 0);
      if (left !== undefined) yield { departure: { step: from.firstStep + offset, index }, left, from };
    }
  }
}
