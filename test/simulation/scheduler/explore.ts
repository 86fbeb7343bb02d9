import { type Budget, spend } from './budget.ts';
import type { OptionList } from './option.ts';
import type { Choose } from './run-schedule.ts';
import type { Departure, Schedule } from './schedule.ts';

/** A schedule that was run, with what each of the options after its last departure would have cost. */
type Explored = {
  readonly schedule: Schedule;
  readonly left: Budget;
  readonly firstStep: number;
  readonly costs: readonly Uint8Array[];
};

/** Does what the schedule says, and notes the price of every option behind its last departure. */
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

/** The same schedule led elsewhere when it was run again: something in the world is not under control. */
export class UnsteadyWorld extends Error {
  override readonly name = 'UnsteadyWorld';

  constructor(schedule: Schedule) {
    super(`The schedule ${JSON.stringify(schedule)} could not be repeated.`);
  }
}

/**
 * Runs every schedule within the budget, each once: depth first, by departing once more, at every later step and
 * in every way that the budget allows, from each schedule that was run. A schedule is the list of its departures
 * in order, and has one parent, the list without the last; so none is missed and none comes twice.
 * Ends early when `run` says so. Returns whether it ran all.
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

  const root = await visit([], budget);
  if (root === undefined) return false;
  const open: Iterator<{ readonly departure: Departure; readonly left: Budget; readonly from: Explored }>[] =
    [departuresOf(root)];
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

function* departuresOf(from: Explored) {
  for (const [offset, costs] of from.costs.entries()) {
    for (let index = 1; index < costs.length; index += 1) {
      const left = spend(from.left, costs[index] ?? 0);
      if (left !== undefined) yield { departure: { step: from.firstStep + offset, index }, left, from };
    }
  }
}
