import type { Choosable } from '../scheduler/option.ts';
import { type Call, DependencyDown, type Fate, fate, fateNames, firstAnswer, isLate } from './call.ts';
import type { Kernel } from './kernel.ts';
import type { Process } from './process.ts';
import { effectDelaySeconds } from './settings.ts';
import type { Timer } from './timers.ts';

/** In milliseconds: more than a process needs to continue. Each read of the clock takes one. */
const remainingMs = 50;

type Settled = { readonly value: unknown } | { readonly error: unknown };

/**
 * A call that was made and is not answered yet. The scheduler decides about it. `process` is undefined if no process
 * waits for the answer any more.
 */
export class PendingCall implements Choosable {
  process: Process | undefined;
  /** Set while the call is kept for later. It is then not the default option. */
  parked: Timer | undefined;
  readonly call: Call<unknown>;
  readonly by: string;
  readonly #host: Kernel;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    host: Kernel,
    process: Process | undefined,
    by: string,
    call: Call<unknown>,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#host = host;
    this.process = process;
    this.by = by;
    this.call = call;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  #nameOf(variant: number): string | undefined {
    return variant >= firstAnswer
      ? this.call.others?.[variant - firstAnswer]?.name
      : fateNames[variant as Fate];
  }

  label(variant: number): string {
    const how = this.#nameOf(variant);
    return `${this.by}: ${this.call.name}${how ? ` — ${how}` : ''}`;
  }

  kind(variant: number): string | undefined {
    const how = this.#nameOf(variant);
    if (variant === fate.done) return undefined;
    return variant >= firstAnswer ? `${this.call.name}: ${how}` : how;
  }

  perform(variant: number): void {
    this.#host.acting(this.process);
    this.#host.drop(this);
    const kind = this.kind(variant);
    if (kind !== undefined) this.#host.counted(kind);
    if (variant < firstAnswer) {
      this.#meet(variant as Fate);
      return;
    }
    const other = this.call.others?.[variant - firstAnswer];
    if (other === undefined) return;
    if (this.process !== undefined) this.process.failedCalls += 1;
    this.#settle(this.#outcome(other.take));
  }

  #meet(met: Fate): void {
    const { process } = this;
    switch (met) {
      case fate.done:
        this.#settle(this.#outcome(this.call.take));
        return;
      case fate.answerDelayed:
        this.#hold(this.#outcome(this.call.take));
        return;
      case fate.slow:
        this.#host.park(this, this.#lastMoment(), `${this.by}: the slow ${this.call.name} takes effect`);
        return;
      case fate.failed:
        this.#fail();
        return;
      case fate.failedAfterEffect:
        this.#outcome(this.call.take);
        this.#fail();
        return;
      case fate.effectDelayed:
        this.#leaveOnItsWay();
        this.#fail();
        return;
      case fate.repeated:
        this.#outcome(this.call.take);
        this.#settle(this.#outcome(this.call.take));
        return;
      case fate.overtaken:
        this.#settle(this.#outcome(this.call.take));
        this.#leaveOnItsWay();
        return;
      case fate.crashBefore:
        break;
      case fate.crashAfter:
        this.#outcome(this.call.take);
        break;
      case fate.crashLater:
        this.#leaveOnItsWay();
    }
    if (process !== undefined) this.#host.crash(process);
  }

  /** Just before the function's timeout, with a little time left to continue. */
  #lastMoment(): number {
    return Math.max(this.#host.now, (this.process?.timeoutAt ?? 0) - remainingMs);
  }

  #outcome(take: () => unknown): Settled {
    try {
      return { value: take() };
    } catch (error) {
      return { error };
    }
  }

  #settle(settled: Settled): void {
    if ('error' in settled) {
      this.#reject(settled.error);
    } else if (isLate(settled.value)) {
      const { after, error } = settled.value;
      const { process } = this;
      this.#host.after(after * 1_000, `${this.by}: ${this.call.name} times out`, () => {
        if (process?.alive === false) return;
        this.#host.acting(process);
        this.#reject(error);
        this.#host.unsettle();
      });
      return;
    } else {
      if (this.process !== undefined) this.process.learnedAt = this.#host.now;
      this.#resolve(settled.value);
    }
    this.#host.unsettle();
  }

  #fail(): void {
    const { kind, name, failure } = this.call;
    if (this.process !== undefined) {
      const { failedWrites } = this.process;
      this.process.failedCalls += 1;
      if (kind === 'write') failedWrites.set(name, (failedWrites.get(name) ?? 0) + 1);
    }
    this.#settle({ error: failure?.() ?? new DependencyDown(name) });
  }

  #hold(settled: Settled): void {
    const answer = new PendingCall(
      this.#host,
      this.process,
      this.by,
      {
        name: `answer to ${this.call.name}`,
        kind: 'read',
        take: () => {
          if ('error' in settled) throw settled.error;
          return settled.value;
        },
        ...(this.call.failure === undefined ? {} : { failure: this.call.failure }),
      },
      this.#resolve,
      this.#reject,
    );
    this.#host.park(answer, this.#lastMoment(), `${answer.by}: ${answer.call.name} arrives`);
  }

  #leaveOnItsWay(): void {
    const { call } = this;
    const stray = new PendingCall(
      this.#host,
      undefined,
      this.by,
      { ...call, name: `delayed ${call.name}` },
      () => undefined,
      () => undefined,
    );
    this.#host.park(
      stray,
      this.#host.now + effectDelaySeconds * 1_000,
      `${this.by}: ${stray.call.name} takes effect`,
    );
  }
}
