import { OptionList } from './option.ts';

/** What a scheduler drives: a world that says what may happen next. */
export type Schedulable = {
  listOptions(into: OptionList): void;
  /** Whether code is about to run that was not there when the options were listed last. */
  takeUnsettled(): boolean;
  /** Whether there is no point in going on. */
  stopped(): boolean;
  /** Told what was chosen, before it happens. */
  chosen(step: number, index: number, options: OptionList): void;
};

export type Choose = (step: number, options: OptionList) => number;

/** A schedule that goes on for longer than this never ends. The longest seen that does takes a fifth of it. */
export const mostSteps = 5_000;

/**
 * Resolves when every promise that can go on has gone on as far as it can: Node's next tick comes after the queue of
 * microtasks is empty, and without a turn of the event loop
 * (https://nodejs.org/docs/latest-v24.x/api/process.html#when-to-use-queuemicrotask-vs-processnexttick).
 */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** A turn of the event loop, so that messages and signals get through between schedules. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets happen what `choose` says, until nothing more can. Returns whether it came to its end. */
export const runSchedule = async (world: Schedulable, choose: Choose): Promise<'ended' | 'endless'> => {
  const options = new OptionList();
  await turn();
  for (let step = 0; step < mostSteps; step += 1) {
    if (world.takeUnsettled()) await quiet();
    if (world.stopped()) return 'ended';
    options.clear();
    world.listOptions(options);
    if (options.size === 0) return 'ended';
    const index = choose(step, options);
    world.chosen(step, index, options);
    options.perform(index);
  }
  return 'endless';
};
