import type { BreakerState } from '#lib/breaker/breaker-state.ts';
import { parseBreakerState } from '#lib/breaker/stored-breaker.ts';
import { defined } from '#lib/defined.ts';
import type { ExecutionInput } from '#lib/extraction/api/create-extraction.ts';
import type { ValidRequest } from '#lib/extraction/api/parse-request.ts';
import type { Erasure, Tombstone } from '#lib/extraction/erase/erasure.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { withoutExtraction } from '#lib/extraction/refused-credentials.ts';
import type { NameIndex, NameQuery, RefusalMark, StoredRequest, Task } from '#lib/extraction/store.ts';
import type { StoredItem } from '#lib/shared-item/shared-item.ts';
import { clearRate } from '../../../tools/cli/operate/change-holds.ts';
import { memoryTelemetry } from '../../support/data/memory-telemetry.ts';
import { breakerStoreOver } from '../../support/stores/memory-breaker-store.ts';
import { startLineItems } from '../../support/stores/memory-start-line.ts';
import { deliveries } from '../models/provider.ts';
import type { FunctionName } from '../world/settings.ts';
import { WatchedItems } from '../world/watched-items.ts';
import type { Choices } from './choices.ts';
import { hasLine, type Member, member, type Population, product } from './draw-population.ts';
import { type Functions, functionsIn } from './functions.ts';
import { runExecution } from './machine.ts';
import { Process } from './process.ts';
import { Provider } from './provider.ts';
import { Queue } from './queue.ts';
import type { RefusalEvent, RefusalFact } from './refused-credentials-invariants.ts';
import { settings } from './settings.ts';
import { VirtualTime } from './virtual-time.ts';

/** For how long an eventually consistent read may return an older state. */
const maxLagMs = 1_000;

/** By then every record is closed: deadline, grace, and collecting, with an hour to spare. */
const horizonSeconds = settings.deadlineSeconds + settings.graceSeconds + settings.collectForSeconds + 3_600;

/** Before the last replays of deliveries, and after all others (draw-refusals.ts). */
const erasedAfterSeconds = 10_000;

/** As in infra/constructs/erase-queue.ts. */
const eraseConsumers = 2;

const nobody = member(-1, 0);

const requestOf = ({ method, entity, extractionId, raw, priority, reference }: Member): ValidRequest =>
  method === 'credentials'
    ? {
        method,
        entity,
        ...defined({ priority, reference }),
        actions: [{ id: 'product-balance' }],
        ...(raw === undefined
          ? { credentials: { mode: 'persisted', value: extractionId } }
          : { credentials: { mode: 'raw', value: raw.value }, ...defined({ confirmed: raw.confirmed }) }),
      }
    : {
        method,
        product,
        consentId: 'consent',
        variant: 'v1',
        target: extractionId,
        ...defined({ reference }),
      };

/** One deployment with all its extractions, and the provider. It runs the code of the product over virtual time. */
export class Service {
  readonly population: Population;
  readonly choices: Choices;
  readonly time = new VirtualTime(Date.parse('2026-03-01T12:00:00.000Z'));
  readonly startedAt = this.time.now;
  readonly now = (): Date => new Date(this.time.now);
  readonly facts: RefusalFact[] = [];
  readonly extractions = new WatchedItems<Extraction>((before, { extractionId: of, status, reason }) => {
    if (before?.status !== status) this.noteFact({ kind: 'status', of, status, reason });
  });
  readonly tasks = new WatchedItems<Task>((before, { extractionId: of, callbackToken, isMarked }) => {
    if (isMarked === true && before?.isMarked !== true) this.noteFact({ kind: 'kept', of: of ?? '' });
    if (before?.extractionId !== undefined || of === undefined) return;
    this.noteFact({ kind: 'linked', of, isAdopted: callbackToken === undefined });
  });
  readonly requests = new Map<string, StoredRequest>();
  /** The table `Erasures`. */
  readonly erasing = {
    erasures: new Map<string, Erasure>(),
    tombstones: new Map<string, Tombstone>(),
  };
  readonly refusals = new WatchedItems<RefusalMark>((_before, mark) =>
    this.noteFact({ kind: 'marked', of: mark.extractionIds.at(-1) ?? '', mark }),
  );
  /** The process whose call takes effect. */
  actor = '';
  readonly breakers = new Map<string, StoredItem>();
  readonly executions = new Map<string, ExecutionInput>();
  /** Why StartTask of each execution failed last. */
  readonly causes = new Map<string, string>();
  /** The writes that changed the breakers of a caller. */
  readonly changes: { readonly caller: string; readonly at: number; readonly after: BreakerState }[] = [];
  /** Every write of their items, with what is stored before and after. They are the same if it lost its race. */
  readonly breakerWrites: {
    readonly at: number;
    readonly before: StoredItem | undefined;
    readonly after: StoredItem | undefined;
  }[] = [];
  readonly telemetry;
  readonly counted;
  readonly provider: Provider;
  readonly queue: Queue;
  readonly slowQueue: Queue;
  readonly eraseQueue: Queue;
  /** The most invocations of start-task at one time. */
  maxStartsAtOnce = 0;
  /** Calls of tables that lost their answer or their process, or were throttled. */
  losses = 0;
  readonly #members: ReadonlyMap<string, Member>;
  readonly #idle: Record<FunctionName, { process: Process; functions: Functions }[]> = {
    intake: [],
    'start-task': [],
    webhook: [],
    reconcile: [],
    sweep: [],
    dispatcher: [],
  };
  readonly line = startLineItems((effect) =>
    this.time.after(
      1_000 * (this.population.indexLateSeconds ?? 0) + this.choices.milliseconds('index', 10, 500),
      effect,
    ),
  );
  /** State transitions of each execution. */
  readonly transitions = new Map<string, number>();
  #dispatchers: Process[] = [];
  #starting = 0;
  /** The callback tokens that somebody waits for. */
  readonly #waiting = new Map<string, (error: string | undefined) => void>();
  /** What an eventually consistent read may still return. */
  readonly #stale = new Map<string, { readonly stored: StoredItem | undefined; readonly until: number }>();
  #names = 0;
  #steps = 0;

  constructor(population: Population, choices: Choices) {
    this.population = population;
    this.choices = choices;
    const { telemetry, counted } = memoryTelemetry();
    this.telemetry = telemetry;
    this.counted = counted;
    this.#members = new Map(population.members.map((one) => [one.extractionId, one]));
    this.provider = new Provider(this);
    const reconciling = (isSlow: boolean) =>
      new Queue(this, {
        atOnce: population.consumers,
        consume: ({ reconcileMessages }, messages) => reconcileMessages(messages, isSlow),
      });
    this.queue = reconciling(false);
    this.slowQueue = reconciling(true);
    this.eraseQueue = new Queue(this, {
      atOnce: eraseConsumers,
      consume: ({ eraseMessages }, messages) => eraseMessages(messages),
    });
  }

  /** Until every record is closed, or all that are asked for. */
  async run(isOver: (service: Service) => boolean = allAreClosed): Promise<this> {
    let over = false;
    const { members } = this.population;
    const lastAt = Math.max(...members.map(({ at }) => at));
    const endsAt = this.time.now + (lastAt + horizonSeconds) * 1_000;
    const { forgetsAt } = this.population;
    if (forgetsAt !== undefined) {
      this.time.after(forgetsAt * 1_000, () => {
        this.noteFact({ kind: 'forgotten', of: '' });
        const now = this.now().toISOString();
        for (const [mac, mark] of this.refusals) {
          const noticedAt = now < mark.noticedAt ? mark.noticedAt : now;
          // No extraction sets this mark.
          if (mark.isRefused)
            Map.prototype.set.call(this.refusals, mac, { ...mark, isRefused: false, noticedAt });
        }
      });
    }
    const { clearsRateAt } = this.population;
    if (clearsRateAt !== undefined) {
      const store = breakerStoreOver(this.breakers, async (_call, effect) => effect());
      const deps = { now: () => this.now(), newVersion: () => this.newName('version') };
      this.time.after(clearsRateAt * 1_000, () => void clearRate(store, deps));
    }
    const { erasesAt } = this.population;
    if (erasesAt !== undefined) this.time.after(erasesAt * 1_000, () => this.#eraseRefused());
    // Whose marks say that the credentials are right, an operator erases. No extraction does that.
    this.time.after(erasedAfterSeconds * 1_000, () => {
      for (const [mac, { isRefused }] of this.refusals) if (!isRefused) this.refusals.delete(mac);
    });
    for (const one of members) {
      const { extractionId, caller: group, at, reconciledAfter } = one;
      this.time.after(at * 1_000, () => void this.#request(one));
      if (reconciledAfter === undefined) continue;
      const reconcile = (): void =>
        this.queue.accept({ extractionId, cause: 'sweep' }, { of: extractionId, group });
      this.time.after((at + reconciledAfter) * 1_000, reconcile);
    }
    for (const { at, askedBy, reference } of this.population.erasures ?? [])
      this.time.after(at * 1_000, () => {
        const asked = { askedBy, askedAt: this.now().toISOString(), reference };
        const erasureId = this.newName('erasure');
        void this.invoke('intake', erasureId, ({ askToErase }) => askToErase({ ...asked, erasureId }));
      });
    const sweepOften = async (): Promise<void> => {
      while (!over) {
        await this.time.sleep(settings.sweepEveryMinutes * 60_000);
        over = isOver(this) || this.time.now >= endsAt;
        this.#removeExpired();
        if (!over) void this.invoke('sweep', 'sweep', ({ sweep }) => sweep());
      }
    };
    void sweepOften();
    const dispatchOften = async (): Promise<void> => {
      const { deadFrom } = this.population.line ?? {};
      if (deadFrom !== undefined)
        this.time.after(deadFrom * 1_000, () => {
          for (const process of this.#dispatchers) void process.end('Runtime.ExitError');
        });
      while (!over && hasLine(this.population)) {
        for (let count = 0; count < (this.population.line?.dispatchers ?? 1); count += 1)
          this.invokeDispatcher(true);
        await this.time.sleep(60_000);
      }
    };
    void dispatchOften();
    await this.time.run(() => over);
    return this;
  }

  /** An operator erases the closed extraction that was refused last. What others showed stays. */
  #eraseRefused(): void {
    for (const [mac, mark] of this.refusals) {
      const erased = mark.extractionIds.findLast((id) => {
        const record = this.extractions.get(id);
        return record !== undefined && isClosed(record);
      });
      if (!mark.isRefused || erased === undefined) continue;
      this.noteFact({ kind: 'erased', of: erased });
      const left = withoutExtraction(mark, erased);
      // No extraction sets this mark.
      if (left === undefined) this.refusals.delete(mac);
      else Map.prototype.set.call(this.refusals, mac, left);
    }
  }

  /** DynamoDB's TTL, with an hour's lag. */
  #removeExpired(): void {
    for (const [mac, { expiresAt }] of this.refusals) {
      if (expiresAt * 1_000 + 3_600_000 < this.time.now) this.refusals.delete(mac);
    }
  }

  memberOf(extractionId: string): Member {
    return this.#members.get(extractionId) ?? nobody;
  }

  /** Whether a call of the bucket about an extraction hangs. */
  hangs(kind: 'store', of: string): boolean {
    return this.memberOf(of).calls?.includes(kind) === true;
  }

  noteFact(fact: RefusalEvent): void {
    this.facts.push({ ...fact, at: this.time.now, by: this.actor });
  }

  /** The call after which the next dispatcher ends: some ten calls are a tick. */
  nextStep(): number {
    this.#steps += 1;
    return this.#steps <= 40 ? this.#steps : Number.POSITIVE_INFINITY;
  }

  newName(kind: string): string {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  /** One invocation of a function, in an idle process or a new one. Throws what the function throws, and the end of its process. */
  async invoke<T>(kind: FunctionName, of: string, call: (functions: Functions) => Promise<T>): Promise<T> {
    const idle = this.#idle[kind];
    const one = idle.splice(this.choices.choose(of, idle.length), 1)[0] ?? this.#newProcess(kind);
    if (kind === 'start-task') this.#starting += 1;
    this.maxStartsAtOnce = Math.max(this.maxStartsAtOnce, this.#starting);
    try {
      return await one.process.serve(of, () => call(one.functions));
    } finally {
      if (!one.process.hasEnded) idle.push(one);
      if (kind === 'start-task') this.#starting -= 1;
    }
  }

  #newProcess(kind: FunctionName): { process: Process; functions: Functions } {
    const process = new Process(this, kind, this.newName(kind));
    return { process, functions: functionsIn(this, process) };
  }

  /** A caller repeats a request that was not answered. */
  async #request(one: Member): Promise<void> {
    const { extractionId, caller } = one;
    const input = {
      extractionId,
      requestedBy: caller,
      fingerprint: 'f'.repeat(64),
      request: requestOf(one),
    };
    for (;;) {
      try {
        await this.invoke('intake', extractionId, ({ request }) => request(input));
        return;
      } catch {
        await this.time.sleep(1_000);
      }
    }
  }

  /** A page of the index `reference`. */
  findNamed({ name, limit, after }: NameQuery): Awaited<ReturnType<NameIndex['find']>> {
    const { indexLateSeconds = 0 } = this.population;
    const until = new Date(this.time.now - 1_000 * indexLateSeconds).toISOString();
    const named = [...this.extractions.values()]
      .filter(({ reference, requestedAt }) => reference === name && requestedAt <= until)
      .toSorted((one, other) => (one.requestedAt < other.requestedAt ? 1 : -1));
    const from = named.findIndex(({ extractionId }) => extractionId === after?.extractionId) + 1;
    const entries = named.slice(from, from + limit);
    return { entries, ...defined({ last: named.length > from + limit ? entries.at(-1) : undefined }) };
  }

  /** An erasure deletes the record, if it is still closed, of this request and in this status. */
  removeErased({ extractionId, requestId, status }: Extraction): boolean {
    const record = this.extractions.get(extractionId);
    if (record === undefined) return true;
    if (!isClosed(record) || record.status !== status || record.requestId !== requestId) return false;
    return this.extractions.delete(extractionId);
  }

  countTransition(extractionId: string): void {
    this.transitions.set(extractionId, (this.transitions.get(extractionId) ?? 0) + 1);
  }

  /** Invokes a dispatcher asynchronously. Nobody sees how it ends. */
  invokeDispatcher(isScheduled: boolean): void {
    const { deadFrom = Number.POSITIVE_INFINITY, deadTo = 0 } = this.population.line ?? {};
    const seconds = (this.time.now - this.startedAt) / 1_000;
    if (seconds >= deadFrom && seconds < deadTo) return;
    void this.invoke('dispatcher', 'dispatcher', async ({ dispatch, process }) => {
      this.#dispatchers.push(process);
      try {
        return await dispatch(isScheduled);
      } finally {
        this.#dispatchers = this.#dispatchers.filter((one) => one !== process);
      }
    }).catch(() => undefined);
  }

  startExecution(input: ExecutionInput): void {
    if (this.executions.has(input.extractionId)) return;
    this.executions.set(input.extractionId, input);
    void runExecution(input, this);
  }

  /** Resolves with the error that the callback token is answered with, or undefined for a success. */
  waitFor(token: string, milliseconds: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#waiting.set(token, resolve);
      this.time.after(milliseconds, () => this.answer(token, 'States.Timeout'));
    });
  }

  /** Answers a callback token. Returns whether anybody waited for it. */
  answer(token: string, error: string | undefined): boolean {
    const resolve = this.#waiting.get(token);
    this.#waiting.delete(token);
    resolve?.(error);
    return resolve !== undefined;
  }

  /** The provider's webhook, until it is answered with a 2xx. */
  async deliver(taskId: string, { extractionId, ends = 'COMPLETED' }: Member): Promise<void> {
    for (let delivery = 0; delivery < deliveries.most; delivery += 1) {
      try {
        await this.invoke('webhook', extractionId, ({ recordDelivery }) => recordDelivery(taskId, ends));
        return;
      } catch {
        await this.time.sleep(deliveries.every * 1_000);
      }
    }
  }

  /** Carries out a call of the table `Breakers`, and notes a change. A read may return the state before the last change. */
  onBreaker<T>(of: string, method: string, name: string, effect: () => T): T {
    if (method === 'update') return effect();
    const stale = this.#stale.get(name);
    const mayLag = stale !== undefined && this.time.now < stale.until;
    if (method === 'read' && mayLag && this.choices.choose(of, 4) === 3) return stale.stored as T;
    const stored = this.breakers.get(name);
    const answer = effect();
    const item = this.breakers.get(name);
    const { now } = this.time;
    if (method === 'replace') this.breakerWrites.push({ at: now, before: stored, after: item });
    if (item !== stored) {
      this.changes.push({ caller: name, at: now, after: parseBreakerState(item?.state, now).state });
      this.#stale.set(name, { stored, until: now + maxLagMs });
    }
    return answer;
  }
}

const isClosed = ({ dueShard }: Extraction): boolean => dueShard === undefined;

/** The members whose records are not closed, or do not exist yet. */
export const openIn = ({ population, extractions }: Service): readonly Member[] =>
  population.members.filter(({ extractionId }) => {
    const record = extractions.get(extractionId);
    return record === undefined || !isClosed(record);
  });

export const allAreClosed = (service: Service): boolean => openIn(service).length === 0;
