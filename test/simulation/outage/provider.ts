import {
  ProviderAmbiguous,
  ProviderRefused,
  ProviderUnreachable,
} from '../../../lib/provider/transport/errors.ts';
import { TransportFailure } from '../../../lib/provider/transport/transport-failure.ts';
import type { Random } from '../../support/random.ts';
import { type Outage, providerTimeout } from './outage.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A call that was made. */
export type ProviderCall = {
  readonly kind: 'login' | 'start';
  readonly process: string;
  readonly at: number;
  /** Undefined while it is under way. */
  endedAt?: number;
  result?: 'success' | 'trouble' | 'refused';
};

const cause = (code: string): TransportFailure =>
  new TransportFailure(Object.assign(new Error(code), { code }));

/** The provider of one world. It answers logins and start calls, and notes them. */
export class OutageProvider {
  readonly calls: ProviderCall[] = [];
  readonly #outage: Outage;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #origin: number;

  constructor(outage: Outage, time: VirtualTime, random: Random) {
    this.#outage = outage;
    this.#time = time;
    this.#random = random;
    this.#origin = time.now;
  }

  logIn(process: string): Promise<string> {
    const isIll = this.#outage.loginsFail && this.#isIll();
    return this.#answer({ kind: 'login', process, at: this.#time.now }, isIll, 'session');
  }

  /** Refuses some users with a 400, if it answers at all. */
  startTask(process: string, taskId: string): Promise<string> {
    return this.#answer({ kind: 'start', process, at: this.#time.now }, this.#isIll(), taskId);
  }

  #isIll(): boolean {
    const { trouble, from, to } = this.#outage;
    const since = (this.#time.now - this.#origin) / 1_000;
    if (trouble === 'fails one call in fifty') return this.#random.below(50) === 0;
    if (since < from || since >= to) return false;
    return trouble !== 'flaps' || Math.floor(since / 10) % 2 === 0;
  }

  async #answer(call: ProviderCall, isIll: boolean, value: string): Promise<string> {
    this.calls.push(call);
    try {
      await this.#time.sleep(50 + this.#random.below(250));
      if (isIll) await this.#fail();
      if (call.kind === 'start' && this.#random.below(this.#outage.refusedOneIn) === 0) {
        throw new ProviderRefused('400', 400);
      }
      call.result = 'success';
      return value;
    } catch (error) {
      call.result = error instanceof ProviderRefused ? 'refused' : 'trouble';
      throw error;
    } finally {
      call.endedAt = this.#time.now;
    }
  }

  async #fail(): Promise<void> {
    switch (this.#outage.trouble) {
      case 'slow':
        return this.#time.sleep(0.75 * providerTimeout * 1_000);
      case 'refuses':
        throw new ProviderUnreachable('refused', { cause: cause('ECONNREFUSED') });
      case 'hangs':
        await this.#time.sleep(providerTimeout * 1_000);
        throw new ProviderAmbiguous('timeout', { cause: cause('ETIMEDOUT') });
      default:
        throw new ProviderAmbiguous('503', { status: 503 });
    }
  }
}
