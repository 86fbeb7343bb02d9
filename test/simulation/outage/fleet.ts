import { extractionMachineDefinition } from '../../../infra/constructs/extraction-machine-definition.ts';
import { type BreakerState, closedBreaker } from '../../../lib/breaker/breaker-state.ts';
import type { StoredBreaker } from '../../../lib/breaker/breaker-store.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../../lib/breaker/circuit-breaker.ts';
import { callByCredentials } from '../../../lib/extraction/prepare-start-call.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { startForMachine } from '../../../lib/extraction/start-for-machine.ts';
import type { Task } from '../../../lib/extraction/store.ts';
import { cacheSessionTokens, type SessionTokens } from '../../../lib/provider/tokens/session-tokens.ts';
import { extraction, timings } from '../../support/extraction-fixtures.ts';
import { breakerStoreOver } from '../../support/memory-breaker-store.ts';
import { extractionStoreOver } from '../../support/memory-extraction-store.ts';
import { memoryJournal } from '../../support/memory-journal.ts';
import { taskStoreOver } from '../../support/memory-task-store.ts';
import type { Random } from '../../support/random.ts';
import type { CarryOut } from '../../support/store-fault.ts';
import { breakerSettings, machineTimings, type Outage } from './outage.ts';
import { OutageProvider } from './provider.ts';
import { VirtualTime } from './virtual-time.ts';

/** The definition that is deployed. */
const { Retry: retriers } = extractionMachineDefinition(machineTimings, {
  startTask: 'start',
  reconcile: 'r',
}).States.StartTask;

/** One process of start-task. It serves one invocation after the other, and keeps its caches between them. */
type Process = {
  readonly name: string;
  readonly breaker: CircuitBreaker;
  readonly sessions: SessionTokens;
  readonly carryOut: CarryOut;
  /** Ends the current invocation. */
  crash: () => void;
};

/** A write that changed the breaker of starts. */
export type BreakerChange = {
  readonly at: number;
  readonly before: BreakerState;
  readonly after: BreakerState;
};

/** For how long an eventually consistent read may return an older state. */
const mostLagMs = 1_000;

class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
}

/** Many extractions during one outage: the machine's retries, the processes of start-task, the tables, the provider. */
export class Fleet {
  readonly outage: Outage;
  readonly time: VirtualTime;
  readonly provider: OutageProvider;
  readonly extractions = new Map<string, Extraction>();
  readonly changes: BreakerChange[] = [];
  /** The most invocations of start-task at one time. */
  mostAtOnce = 0;
  #atOnce = 0;
  /** Calls of tables that lost their answer or their process. */
  losses = 0;
  readonly #random: Random;
  readonly #tasks = new Map<string, Task>();
  readonly #breakers = new Map<string, StoredBreaker>();
  readonly #idle: Process[] = [];
  /** What an eventually consistent read may still return. */
  #staleBreaker: StoredBreaker = { state: closedBreaker };
  #names = 0;

  constructor(outage: Outage, random: Random) {
    this.outage = outage;
    this.#random = random;
    this.time = new VirtualTime(Date.parse('2026-03-01T12:00:00.000Z'));
    this.provider = new OutageProvider(outage, this.time, random);
  }

  get breaker(): BreakerState {
    return this.#breakers.get('starts')?.state ?? closedBreaker;
  }

  async run(): Promise<void> {
    const { extractions, requestedUntil, together } = this.outage;
    for (let index = 0; index < extractions; index += 1) {
      const after = (requestedUntil * 1_000 * (index - (index % together))) / extractions;
      void this.time.sleep(after).then(() => this.#request(`extraction-${index}`));
    }
    await this.time.run();
  }

  /** Records an extraction, and retries its start as the machine does. */
  async #request(extractionId: string): Promise<void> {
    const requestedAt = new Date(this.time.now).toISOString();
    this.extractions.set(extractionId, { ...extraction(), extractionId, requestedAt });
    const tried = retriers.map(() => 0);
    for (let attempt = 0; ; attempt += 1) {
      const error = await this.#startTask(extractionId, attempt);
      const index = retriers.findIndex(
        ({ ErrorEquals }) =>
          error !== undefined && (ErrorEquals.includes(error) || ErrorEquals.includes('States.TaskFailed')),
      );
      const retrier = retriers[index];
      const times = tried[index] ?? 0;
      if (retrier === undefined || times >= retrier.MaxAttempts) return;
      tried[index] = times + 1;
      const most = retrier.MaxDelaySeconds ?? retrier.IntervalSeconds;
      const seconds = Math.min(retrier.IntervalSeconds * retrier.BackoffRate ** times, most);
      await this.time.sleep(seconds * 1_000 * (retrier.JitterStrategy === 'FULL' ? this.#random.next() : 1));
    }
  }

  /** One invocation. Returns the error that fails the state, or undefined. */
  async #startTask(extractionId: string, callbackAttempt: number): Promise<string | undefined> {
    const process = this.#idle.splice(this.#random.below(this.#idle.length), 1)[0] ?? this.#newProcess();
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    let failed: string | undefined;
    const crashed = new Promise<string>((resolve) => {
      process.crash = () => resolve('Runtime.ExitError');
    });
    const invocation = startForMachine(
      {
        extractionId,
        requestId: extraction().requestId,
        callbackToken: 'token',
        callbackAttempt,
        sealed: '',
      },
      {
        extractions: extractionStoreOver(this.extractions, process.carryOut),
        tasks: taskStoreOver(this.#tasks, process.carryOut),
        callFor: async () =>
          callByCredentials(
            extraction(),
            { credentials: { mode: 'persisted', value: 'p' } },
            {
              sessions: process.sessions,
              startTask: () => this.provider.startTask(process.name, `task-of-${extractionId}`),
            },
          ),
        breaker: process.breaker,
        logIn: process.sessions.renew,
        send: async () => undefined,
        wake: async () => 'woken',
        fail: async (_token, error) => {
          failed = error;
        },
        newAttemptId: () => this.#newName('attempt'),
        now: () => new Date(this.time.now),
        timings: { ...timings, startTimeout: machineTimings.startTimeoutSeconds },
        journal: memoryJournal().journal,
      },
    ).then(() => {
      this.#idle.push(process);
      return failed;
    });
    return Promise.race([invocation, crashed]).finally(() => {
      this.#atOnce -= 1;
    });
  }

  #newName(kind: string): string {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  #newProcess(): Process {
    const name = this.#newName('process');
    const now = () => new Date(this.time.now);
    const process: Process = {
      name,
      carryOut: (call, effect) => this.#carryOut(process, call.method, effect),
      breaker: createCircuitBreaker({
        name: 'starts',
        store: breakerStoreOver(this.#breakers, (call, effect) =>
          this.#carryOut(process, call.method, () => this.#withBreaker(call.method, effect)),
        ),
        settings: breakerSettings,
        now,
        newId: () => `${name}/${this.#newName('id')}`,
        journal: memoryJournal().journal,
      }),
      sessions: cacheSessionTokens({ logIn: () => this.provider.logIn(name), lifetimeMs: 3_600_000, now }),
      crash: () => undefined,
    };
    return process;
  }

  /** Every call of a table takes some milliseconds. Some lose their answer, and some their process. */
  async #carryOut<T>(process: Process, method: string, effect: () => T): Promise<T> {
    await this.time.sleep(1 + this.#random.below(10));
    const isLost = this.#random.below(this.outage.lossOneIn) === 0;
    if (isLost) this.losses += 1;
    const crashes = isLost && this.#random.below(2) === 0;
    if (crashes && this.#random.below(2) === 0) return this.#end(process);
    const answer = effect();
    if (crashes) return this.#end(process);
    await this.time.sleep(1 + this.#random.below(10));
    if (isLost && method !== 'get' && method !== 'read') throw new AnswerLost('The answer was lost.');
    return answer;
  }

  #end(process: Process): Promise<never> {
    process.crash();
    return new Promise(() => undefined);
  }

  /** Notes a change of the breaker. A read may return the state before the last change. */
  #withBreaker<T>(method: string, effect: () => T): T {
    const before = this.#breakers.get('starts') ?? { state: closedBreaker };
    const answer = effect();
    const after = this.#breakers.get('starts') ?? before;
    if (after !== before) {
      this.changes.push({ at: this.time.now, before: before.state, after: after.state });
      this.#staleBreaker = before;
    }
    const isRecent = this.time.now - (this.changes.at(-1)?.at ?? 0) < mostLagMs;
    return method === 'read' && isRecent && this.#random.below(4) === 0 ? (this.#staleBreaker as T) : answer;
  }
}
