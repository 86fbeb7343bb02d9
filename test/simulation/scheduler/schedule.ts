/** One departure from what happens by itself: at which step, and which option was taken there. */
export type Departure = { readonly step: number; readonly index: number };

/** Everything that tells one run of a scenario from another. Without departures, all happens by itself. */
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
          throw new TypeError(`"${departure}" is no step.index`);
        }
        return { step, index };
      });
