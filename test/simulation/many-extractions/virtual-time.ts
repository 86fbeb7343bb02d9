type Sleeper = { readonly at: number; readonly order: number; readonly wake: () => void };

/** Resolves when no promise can continue any more (see run-schedule.ts). */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

const isBefore = (one: Sleeper, other: Sleeper): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** Time that passes only when everything waits for it. In milliseconds of the epoch. */
export class VirtualTime {
  now: number;
  /** A binary heap, the next first. */
  readonly #sleepers: Sleeper[] = [];
  #order = 0;

  constructor(now: number) {
    this.now = now;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => this.after(milliseconds, wake));
  }

  after(milliseconds: number, wake: () => void): void {
    this.#order += 1;
    const sleeper = { at: this.now + milliseconds, order: this.#order, wake };
    const heap = this.#sleepers;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(sleeper, heap[parent] as Sleeper)) break;
      heap[index] = heap[parent] as Sleeper;
      index = parent;
    }
    heap[index] = sleeper;
  }

  /** Lets time pass until nothing waits for it any more, or until it is over. */
  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await quiet();
      const next = this.#next();
      if (next === undefined) return;
      this.now = next.at;
      next.wake();
    }
  }

  #next(): Sleeper | undefined {
    const heap = this.#sleepers;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child =
        right < heap.length && isBefore(heap[right] as Sleeper, heap[left] as Sleeper) ? right : left;
      if (!isBefore(heap[child] as Sleeper, last)) break;
      heap[index] = heap[child] as Sleeper;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}
