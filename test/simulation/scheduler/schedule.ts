import type { OptionList } from './option.ts';
import type { Choose } from './run-schedule.ts';

/** One departure from the default: the step, and the option that was chosen there. */
export type Departure = { readonly step: number; readonly index: number };

/** Everything in which two runs of a scenario differ. Without departures, only defaults happen. */
export type Schedule = readonly Departure[];

/** `12.3,40.1`: a text that `parseSchedule` reads. */
export const formatSchedule = (schedule: Schedule): string =>
  schedule.map(({ step, index }) => `${step}.${index}`).join(',');

export const parseSchedule = (text: string): Schedule =>
  text === ''
    ? []
    : text.split(',').map((departure) => {
        const [step, index] = departure.split('.').map(Number);
        if (
          step === undefined ||
          index === undefined ||
          !Number.isInteger(step) ||
          !Number.isInteger(index)
        ) {
          throw new TypeError(`"${departure}" is not a step.index`);
        }
        return { step, index };
      });

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
