import { type Choosable, cost, type OptionList } from '../scheduler/option.ts';
import type { Schedulable } from '../scheduler/run-schedule.ts';
import { type Call, fateCost, fatesOf, firstAnswer } from './call.ts';
import { PendingCall } from './pending-call.ts';
import { Process, type ProcessEnd } from './process.ts';
import { Timers } from './timers.ts';

/** Something that an operator, a caller or AWS may do at any time. */
export type WorldEvent = {
  readonly name: string;
  readonly possible: () => boolean;
  readonly happen: () => void;
};

type KernelWatch = {
  readonly counted: (what: string) => void;
  readonly chosen: (step: number, index: number, options: OptionList) => void;
  readonly stopped: () => boolean;
};

/**
 * Time, processes, and every pending call. It knows nothing about extractions. It lists what can happen next, and lets it
 * happen. By default the process that ran last continues, then the one that has waited longest, then time passes to the
 * next timer. Everything else is a departure that the scheduler may choose.
 */
export class Kernel implements Schedulable {
  /** In milliseconds of the epoch. */
  now: number;
  readonly timers = new Timers();
  /** How many processes were ended before they returned. */
  interruptions = 0;
  readonly #pending: PendingCall[] = [];
  readonly #events: readonly (WorldEvent & { readonly option: Choosable })[];
  readonly #watch: KernelWatch;
  readonly #alive = new Set<Process>();
  #acting: Process | undefined;
  #unsettled = false;

  constructor(now: number, events: WorldEvent[], watch: KernelWatch) {
    this.now = now;
    this.#events = events.map((event) => ({ ...event, option: this.#optionOf(event) }));
    this.#watch = watch;
  }

  /** The process whose call takes effect now; undefined if no process waits for it any more. */
  get actor(): Process | undefined {
    return this.#acting;
  }

  /** Makes a call of a process, or of something else by its name. The call of a process that has ended is not made. */
  call<T>(by: Process | string, call: Call<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const process = typeof by === 'string' ? undefined : by;
      if (process?.alive === false) return;
      const answer = resolve as (value: unknown) => void;
      const name = typeof by === 'string' ? by : by.name;
      this.#pending.push(new PendingCall(this, process, name, call, answer, reject));
    });
  }

  /** Runs one invocation of a function, which is ended after `life` seconds. */
  spawn<T>(
    name: string,
    life: number,
    body: (process: Process) => Promise<T>,
    ended: (end: ProcessEnd<T>) => void,
  ): Process {
    const timeoutAt = this.now + life * 1_000;
    const process = new Process(name, this.now, timeoutAt, new Set(this.#alive), (of) =>
      ended({ kind: 'interrupted', of }),
    );
    this.#alive.add(process);
    process.timeout = this.timers.set(timeoutAt, `${name} times out`, () => {
      this.#kill(process, 'timeout');
    });
    const finish = (end: ProcessEnd<T>): void => {
      if (!process.alive) return;
      process.alive = false;
      this.#alive.delete(process);
      this.timers.clear(process.timeout);
      this.#freeze(process);
      ended(end);
      this.unsettle();
    };
    this.unsettle();
    body(process).then(
      (value) => finish({ kind: 'returned', value }),
      (error: unknown) => finish({ kind: 'threw', error }),
    );
    return process;
  }

  acting(process: Process | undefined): void {
    this.#acting = process;
  }

  unsettle(): void {
    this.#unsettled = true;
  }

  takeUnsettled(): boolean {
    const unsettled = this.#unsettled;
    this.#unsettled = false;
    return unsettled;
  }

  stopped(): boolean {
    return this.#watch.stopped();
  }

  chosen(step: number, index: number, options: OptionList): void {
    this.#watch.chosen(step, index, options);
    const timer = options.targets[index];
    if (timer !== undefined && 'at' in timer) {
      this.now = Math.max(this.now, timer.at as number);
      this.#acting = undefined;
    }
  }

  counted(fault: string): void {
    this.#watch.counted(fault);
  }

  drop(pending: PendingCall): void {
    const index = this.#pending.indexOf(pending);
    if (index >= 0) this.#pending.splice(index, 1);
    this.timers.clear(pending.parked);
    pending.parked = undefined;
  }

  park(pending: PendingCall, at: number, label: string): void {
    pending.parked = this.timers.set(at, label, () => pending.perform(0));
    this.#pending.push(pending);
  }

  crash(process: Process): void {
    this.#kill(process, 'crash');
  }

  /** Drops the delayed requests of processes that have ended. */
  dropStrays(): void {
    const strays = this.#pending.filter(
      ({ process, parked }) => process === undefined && parked !== undefined,
    );
    for (const stray of strays) this.drop(stray);
  }

  /** Resolves after this time, unless the process has ended by then. */
  sleep(process: Process, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(milliseconds, `${process.name} goes on`, () => {
        if (!process.alive) return;
        this.acting(process);
        resolve();
        this.unsettle();
      });
    });
  }

  after(milliseconds: number, label: string, fire: () => void): void {
    this.timers.set(this.now + milliseconds, label, fire);
  }

  /** Nothing of the process runs again. Its calls that have not taken effect are dropped. */
  #kill(process: Process, of: 'crash' | 'timeout'): void {
    if (!process.alive) return;
    process.alive = false;
    this.#alive.delete(process);
    process.interrupted = true;
    this.interruptions += 1;
    this.timers.clear(process.timeout);
    this.#freeze(process);
    this.#watch.counted(of === 'timeout' ? 'function timeout' : 'crash');
    process.onInterrupted(of);
  }

  /** Drops the calls of a function that it did not await. */
  #freeze(process: Process): void {
    for (const pending of this.#pending.filter(({ process: its }) => its === process)) this.drop(pending);
  }

  listOptions(into: OptionList): void {
    const byDefault = this.#byDefault();
    const timer = this.timers.next();
    if (byDefault !== undefined) this.#addAll(byDefault, cost.none, into);
    if (timer !== undefined) into.add(timer, 0, byDefault === undefined ? cost.none : cost.preemption);
    for (const pending of this.#pending) {
      if (pending.parked !== undefined) into.add(pending, 0, cost.preemption);
      else if (pending !== byDefault) this.#addAll(pending, cost.preemption, into);
    }
    if (timer !== undefined) {
      for (const other of this.timers.besides(timer)) into.add(other, 0, cost.preemption);
    }
    if (into.size === 0) return;
    for (const { possible, option } of this.#events) if (possible()) into.add(option, 0, cost.event);
  }

  #optionOf({ name, happen }: WorldEvent): Choosable {
    return {
      label: () => name,
      kind: () => name,
      perform: () => {
        this.#watch.counted(name);
        happen();
      },
    };
  }

  #byDefault(): PendingCall | undefined {
    let first: PendingCall | undefined;
    for (const pending of this.#pending) {
      if (pending.parked !== undefined) continue;
      if (pending.process !== undefined && pending.process === this.#acting) return pending;
      first ??= pending;
    }
    return first;
  }

  #addAll(pending: PendingCall, price: number, into: OptionList): void {
    into.add(pending, 0, price);
    const { kind, others } = pending.call;
    if (pending.process !== undefined) {
      for (const fate of fatesOf[kind]) into.add(pending, fate, price | fateCost(fate));
    }
    for (let index = 0; index < (others?.length ?? 0); index += 1) {
      into.add(pending, firstAnswer + index, price | cost.fault);
    }
  }
}
