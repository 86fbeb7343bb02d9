type Sleeper = { readonly at: number; readonly order: number; readonly wake: () => void };

/** Resolves when no promise can continue any more (see run-schedule.ts). */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Time that passes only when everything waits for it. In milliseconds of the epoch. */
export class VirtualTime {
  now: number;
  readonly #sleepers: Sleeper[] = [];
  #order = 0;

  constructor(now: number) {
    this.now = now;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => {
      this.#order += 1;
      const sleeper = { at: this.now + milliseconds, order: this.#order, wake };
      const index = this.#sleepers.findLastIndex(({ at }) => at <= sleeper.at);
      this.#sleepers.splice(index + 1, 0, sleeper);
    });
  }

  /** Lets time pass until nothing waits for it any more. */
  async run(): Promise<void> {
    for (;;) {
      await quiet();
      const next = this.#sleepers.shift();
      if (next === undefined) return;
      this.now = next.at;
      next.wake();
    }
  }
}
