import type { CarryOut } from '../../support/stores/store-fault.ts';
import type { FunctionName } from '../world/settings.ts';
import { isHealthy } from './draw-population.ts';
import type { Service } from './service.ts';
import { lifeOf } from './settings.ts';

class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
}

const never = (): Promise<never> => new Promise(() => undefined);

/** One process of a function. It serves one invocation after the other, and keeps its caches between them. */
export class Process {
  readonly name: string;
  readonly kind: FunctionName;
  /** The extraction of the current invocation. */
  of = '';
  #msAhead = 0;
  #endsAt = 0;
  #hasEnded = false;
  #calls = 0;
  /** After so many calls of AWS, it ends. */
  readonly #endsAfter: number;
  #fail: (error: Error) => void = () => undefined;
  readonly #service: Service;

  constructor(service: Service, kind: FunctionName, name: string) {
    this.#service = service;
    this.kind = kind;
    this.name = name;
    const endsEachStep = kind === 'dispatcher' && service.population.line?.endsEachStep === true;
    this.#endsAfter = endsEachStep ? service.nextStep() : Number.POSITIVE_INFINITY;
  }

  /** Runs one invocation. Throws what it throws, or the end of the process. */
  async serve<T>(of: string, invocation: () => Promise<T>): Promise<T> {
    this.of = of;
    const { population, choices } = this.#service;
    const { clocksAhead } = population;
    this.#msAhead = clocksAhead === undefined ? 0 : choices.choose(of, 2) * clocksAhead * 1_000;
    let isRunning = true;
    this.#endsAt = this.#service.time.now + lifeOf[this.kind] * 1_000;
    const ended = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    this.#service.time.after(lifeOf[this.kind] * 1_000, () => {
      if (isRunning) void this.end('Sandbox.Timedout');
    });
    try {
      return await Promise.race([invocation(), ended]);
    } finally {
      isRunning = false;
    }
  }

  /** The time by its clock, which may be ahead in one invocation and right in the next. */
  readonly now = (): Date => new Date(this.#service.time.now + this.#msAhead);

  readonly remainingMs = (): number => this.#endsAt - this.#service.time.now;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ends the process, with the name of the error that Lambda reports. */
  end(name: string): Promise<never> {
    this.#hasEnded = true;
    this.#fail(Object.assign(new Error(name), { name }));
    return never();
  }

  async wait(milliseconds: number): Promise<void> {
    await this.#service.time.sleep(milliseconds);
    if (this.#hasEnded) await never();
  }

  /** Calls back after some time, unless the returned function was called before or the process has ended. */
  readonly schedule = (callback: () => void, milliseconds: number): (() => void) => {
    let isStopped = false;
    this.#service.time.after(milliseconds, () => {
      if (!isStopped && !this.#hasEnded) callback();
    });
    return () => {
      isStopped = true;
    };
  };

  /** Every call of a table takes some milliseconds. Some lose their answer, and some their process. */
  readonly carryOut: CarryOut = async ({ store, method, key }, effect) => {
    const { choices } = this.#service;
    await this.wait(choices.milliseconds(this.of, 1, 11));
    this.#throttle(store, method);
    const isLost = this.#loses();
    const crashes = isLost && choices.choose(this.of, 2) === 1;
    if (crashes && choices.choose(this.of, 2) === 1) return this.end('Runtime.ExitError');
    this.#service.actor = this.name;
    if (store === 'refusals' && method === 'get') this.#service.noteFact({ kind: 'checked', of: this.of });
    const answer = store === 'breakers' ? this.#service.onBreaker(this.of, method, key, effect) : effect();
    this.#service.actor = '';
    this.#calls += 1;
    const endsNow = this.#calls === this.#endsAfter;
    if (endsNow) this.#service.losses += 1;
    if (crashes || endsNow) return this.end('Runtime.ExitError');
    await this.wait(choices.milliseconds(this.of, 1, 11));
    if (isLost && !['get', 'read', 'due', 'find', 'next', 'counts'].includes(method))
      throw new AnswerLost('The answer was lost.');
    return answer;
  };

  /** Throws if the table of the line takes no write now. */
  #throttle(store: string, method: string): void {
    const { throttledWritesOneIn = 0 } = this.#service.population.line ?? {};
    if (throttledWritesOneIn === 0 || store !== 'line' || ['find', 'next', 'counts'].includes(method)) return;
    if (this.#service.choices.choose(this.of, throttledWritesOneIn) === 0) throw new Error('Throttled.');
  }

  #loses(): boolean {
    const { population } = this.#service;
    const { lossOneIn, outages } = population;
    if (lossOneIn === undefined || this.kind === 'sweep') return false;
    if (this.#service.population.losesAny === true) return this.#drawLoss(lossOneIn);
    const member = this.#service.memberOf(this.of);
    if (outages.length === 0 && isHealthy(member) && member.raw === undefined) return false;
    return this.#drawLoss(lossOneIn);
  }

  #drawLoss(lossOneIn: number): boolean {
    const isLost = this.#service.choices.choose(this.of, lossOneIn) === lossOneIn - 1;
    if (isLost) {
      this.#service.losses += 1;
      this.#service.noteFact({ kind: 'lost', of: this.of });
    }
    return isLost;
  }
}
