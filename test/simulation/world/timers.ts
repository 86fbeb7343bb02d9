import type { Choosable } from '../scheduler/option.ts';

/** Something that happens at a time, in milliseconds. */
export type Timer = Choosable & { readonly at: number; readonly order: number };

/** Pending timers. There are about ten at a time, so a list suffices. */
export class Timers {
  readonly #timers: Timer[] = [];
  #order = 0;

  set(at: number, label: string, fire: () => void): Timer {
    const order = this.#order;
    this.#order += 1;
    const timer: Timer = {
      at,
      order,
      label: () => label,
      perform: () => {
        this.clear(timer);
        fire();
      },
    };
    this.#timers.push(timer);
    return timer;
  }

  clear(timer: Timer | undefined): void {
    const index = timer === undefined ? -1 : this.#timers.indexOf(timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }

  /** The next one; of several at the same time, the one that was set first. */
  next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) {
        next = timer;
      }
    }
    return next;
  }

  /** Those that are due together with the next, without it. */
  *besides(next: Timer): Iterable<Timer> {
    for (const timer of this.#timers) if (timer !== next && timer.at === next.at) yield timer;
  }
}
