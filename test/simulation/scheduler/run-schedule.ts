import { OptionList } from './option.ts';

/** A world that a scheduler drives. */
export type Schedulable = {
  listOptions(into: OptionList): void;
  /** Whether a promise was settled since the options were listed last. */
  takeUnsettled(): boolean;
  /** Whether the schedule should end now. */
  stopped(): boolean;
  /** Called with the chosen option, before it happens. */
  chosen(step: number, index: number, options: OptionList): void;
};

export type Choose = (step: number, options: OptionList) => number;

/** A longer schedule counts as endless. The longest one seen that ends has a fifth of it. */
const maxSteps = 5_000;

/**
 * Resolves when no promise can continue any more. Node's next tick runs after the queue of microtasks is empty, and needs
 * no turn of the event loop
 * (https://nodejs.org/docs/latest-v24.x/api/process.html#when-to-use-queuemicrotask-vs-processnexttick).
 */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** A turn of the event loop, so that messages and signals get through between schedules. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Performs the options that `choose` returns, until there is none. Returns whether the schedule ended. */
export const runSchedule = async (world: Schedulable, choose: Choose): Promise<'ended' | 'endless'> => {
  const options = new OptionList();
  await turn();
  for (let step = 0; step < maxSteps; step += 1) {
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
