import { cost } from './option.ts';
import type { Schedule } from './schedule.ts';

/** How many departures a schedule may have. */
export type Budget = {
  readonly faults: number;
  readonly preemptions: number;
  readonly events: number;
  /** Of all three together. */
  readonly departures: number;
  /** The first step at which a schedule departs, for a search of a part. 0 by default. */
  readonly from?: number;
  /** The departures that each schedule begins with, for a search of a smaller part. They cost nothing. */
  readonly after?: Schedule;
};

/** A budget of so many departures of any kind. */
export const upTo = (departures: number): Budget => ({
  faults: departures,
  preemptions: departures,
  events: departures,
  departures,
});

/** What remains of a budget after an option; undefined if the budget is too small. */
export const spend = (budget: Budget, price: number): Budget | undefined => {
  const left = {
    faults: budget.faults - ((price & cost.fault) === 0 ? 0 : 1),
    preemptions: budget.preemptions - ((price & cost.preemption) === 0 ? 0 : 1),
    events: budget.events - ((price & cost.event) === 0 ? 0 : 1),
    departures: budget.departures - 1,
  };
  return left.faults < 0 || left.preemptions < 0 || left.events < 0 || left.departures < 0 ? undefined : left;
};
