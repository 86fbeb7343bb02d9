import type { OptionList } from './option.ts';
import type { Choose } from './run-schedule.ts';
import type { Schedule } from './schedule.ts';

/** Follows a schedule. If an option of it does not exist, the default happens. */
export const followSchedule = (schedule: Schedule): Choose => {
  let next = 0;
  return (step: number, options: OptionList): number => {
    const departure = schedule[next];
    if (departure?.step !== step) return 0;
    next += 1;
    return departure.index < options.size ? departure.index : 0;
  };
};
