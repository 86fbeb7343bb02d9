import type { BreakerState } from '#lib/breaker/breaker-state.ts';
import type { ExecutionInput } from '#lib/extraction/api/create-extraction.ts';
import type { Change, Update } from '#lib/extraction/change.ts';
import type { CredentialsExtraction, Extraction } from '#lib/extraction/record.ts';
import { credentialsMac } from '#lib/extraction/refused-credentials.ts';
import type { RefusalMark, StoredRequest, Task } from '#lib/extraction/store.ts';
import type { Telemetry } from '#lib/observability/telemetry.ts';
import { permitItem } from '#lib/rate-limit/permit.ts';
import type { StoredEntry } from '#lib/rate-limit/start-line.ts';
import { type Pauses, pausesItem } from '#lib/shared-item/operator-settings.ts';
import type { StoredItem } from '#lib/shared-item/shared-item.ts';
import { startLineItems } from '../../support/stores/memory-start-line.ts';
import { functionsOfWorld } from '../actors/functions.ts';
import type { OptionList } from '../scheduler/option.ts';
import { DependencyDown } from './call.ts';
import { Erasing } from './erasing.ts';
import type { FactKind, Facts } from './facts.ts';
import { Kernel, type WorldEvent } from './kernel.ts';
import { Execution, type ExecutionStatus } from './machine.ts';
import { hasFailedThrice, type Process, wentWell } from './process.ts';
import { Provider, type ProviderTask } from './provider.ts';
import { ReconcileQueue } from './reconcile-queue.ts';
import type { Part, Scenario } from './scenario.ts';
import { breakerSettings, settings } from './settings.ts';
import { fingerprintKey, theCaller, theCredentials, theExtraction } from './the-extraction.ts';
import { WatchedItems } from './watched-items.ts';

type WorldObserver = {
  readonly fact: <Kind extends FactKind>(kind: Kind, fact: Facts[Kind], world: World) => void;
  readonly chosen: (world: World, step: number, index: number, options: OptionList) => void;
  readonly counted: (what: string) => void;
  readonly stopped: () => boolean;
};

/** When every schedule starts. */
const origin = Date.parse('2026-03-01T12:00:00.000Z');

/** The last sweep of a world with a dead part. All other work is over long before. */
const lastSweepMs = 3_600_000;

/** The last dispatcher of a world with a dead part. */
const lastDispatchMs = 600_000;

/** How often a dispatcher looks at a line in which somebody waits. */
const dispatchEveryMs = 10_000;

/** The functions whose processes have other names. */
const serviceNames: Readonly<Record<string, string>> = {
  intake: 'request-extraction',
  webhook: 'receive-webhook',
  reconcile: 'reconcile-extraction',
  consumer: 'reconcile-extraction',
  sweep: 'sweep-extractions',
  dispatcher: 'dispatch-starts',
};

/** The life of one extraction: tables, machine, provider, caller, and the functions. */
export class World {
  readonly startedAt = origin;
  readonly scenario: Scenario;
  readonly kernel: Kernel;
  readonly provider: Provider;
  execution: Execution | undefined;
  readonly queue: ReconcileQueue;
  readonly extractions: WatchedItems<Extraction>;
  readonly tasks: WatchedItems<Task>;
  readonly requests: WatchedItems<StoredRequest>;
  readonly refusals: WatchedItems<RefusalMark>;
  /** Which request was in the record when a repeat was last counted, by `extractionId`. */
  readonly repeats = new Map<string, string>();
  /** Tasks that start-task linked after they were adopted, and after a read of that process was noticed. */
  readonly linkedAfterNotice = new Set<string>();
  /** The requests whose item was lost, or could not be put back. A delayed copy of its put may restore it. */
  readonly lostRequests = new Map<string, 'lost' | 'restored'>();
  /** Calls of `Requests`, how often they took effect, and how many were answered. */
  readonly requestCalls = { made: 0, effects: 0, answered: 0 };
  readonly breakers = new Map<string, StoredItem>();
  /** The table `StartLine`. */
  readonly line = startLineItems();
  /** The process that wrote NOT_STARTED while the execution waited in line. */
  withdrawnBy: Process | undefined;
  #lineItem: StoredEntry | undefined;
  #inLineMs = 0;
  readonly erasing: Erasing;
  /** The breakers of the caller, and the operator's pauses, as each process saw them last. */
  readonly breakersSeen = new Map<Process, BreakerState>();
  readonly pausesSeen = new Map<Process, Pauses>();
  /** The invocation of intake that received each request. */
  readonly receivers = new Map<string, Process>();
  /** How often the record was erased or lost. */
  losses = 0;
  /** How many records were erased or lost before each invocation of intake. */
  readonly lossesBefore = new Map<Process, number>();
  readonly counted = new Map<string, number>();
  /** The process of each start attempt. */
  readonly attempts = new Map<string, Process>();
  /** Every change of status, as `from>to`. */
  readonly transitions: string[] = [];
  /** Tasks of which a terminal delivery was answered with 2xx, and whether each was linked then. */
  readonly acknowledged = new Map<string, { readonly linked: boolean }>();
  /** Callback tokens of the invocations of start-task that returned, */
  readonly returned = new Set<string>();
  /** and those of them that wait for a webhook. */
  readonly linked = new Set<string>();
  /** Whether a start-task has done all that it had to. */
  hasFinishedStart = false;
  /** The leases of sweeps, with the `dueAt` that each read. */
  readonly leases: { readonly by: Process; readonly seen: string; readonly moved: boolean }[] = [];
  /** The processes that read the provider. */
  readonly readers: Process[] = [];
  /** Those of them whose answer was over the size limit, in order. */
  readonly oversized: Process[] = [];
  /** The processes that have changed dueAt, and how often it was changed. */
  readonly setDueAt = new Set<Process>();
  dueAtWrites = 0;
  /** The processes that took another's outcome, or its collection, for their own: only the time distinguishes these, and it was the same. */
  readonly mistaken = new Set<Process>();
  /** The records with an outcome, or a collection, that each process has written. */
  readonly #written = new Map<Process, Extraction[]>();
  readonly #sending = new Set<Process>();
  readonly #observer: WorldObserver;
  readonly #processes: ReturnType<typeof functionsOfWorld>;
  #sweep: ReturnType<Kernel['timers']['set']> | undefined;
  #dispatcher: ReturnType<Kernel['timers']['set']> | undefined;
  #sweptAt = origin;

  constructor(scenario: Scenario, observer: WorldObserver) {
    this.scenario = scenario;
    this.#observer = observer;
    this.#processes = functionsOfWorld(this);
    this.kernel = new Kernel(origin, this.#events(), {
      counted: observer.counted,
      chosen: (step, index, options) => observer.chosen(this, step, index, options),
      stopped: observer.stopped,
    });
    this.provider = new Provider(this);
    this.queue = new ReconcileQueue(this, this.#processes.consume);
    this.erasing = new Erasing(this, this.#processes.consumeErasure);
    this.extractions = new WatchedItems((before, after) => {
      this.erasing.backup.set(after.requestId, after);
      if (before?.status !== after.status) this.transitions.push(`${before?.status ?? ''}>${after.status}`);
      this.#noteWritten(before, after);
      this.#noteDueAt(before, after);
      this.#noteLease(before, after);
      this.#noteReopening(before, after);
      if (before?.status === 'REQUESTED' && after.status === 'NOT_STARTED')
        this.withdrawnBy = this.execution?.isInLine === true ? this.kernel.actor : undefined;
      this.state('record', { before, after, by: this.kernel.actor });
      this.#scheduleSweep();
    });
    this.tasks = new WatchedItems((before, after) => {
      const isNewMac = before?.credentialsMac === undefined && after.credentialsMac !== undefined;
      if (isNewMac && before?.extractionId !== undefined && before.firstStatus !== undefined)
        this.linkedAfterNotice.add(after.taskId);
      this.state('taskItem', { before, after });
    });
    this.requests = new WatchedItems(
      (_before, { requestId }) => {
        if (this.lostRequests.has(requestId)) this.lostRequests.set(requestId, 'restored');
      },
      (item) => this.state('requestRemoved', { item }),
    );
    this.refusals = new WatchedItems((before, after) => this.state('mark', { before, after }));
    if (scenario.marks === 'refused') this.#markBefore();
    this.#prepareBreakers(scenario);
    this.#prepareRate(scenario);
    this.#request('the caller', 'fingerprint-1', 4);
    this.#prepareNewer(scenario);
    if (scenario.requestLostAfter !== undefined) {
      this.kernel.after(scenario.requestLostAfter * 1_000, 'the items of Requests are lost', () => {
        for (const requestId of this.requests.keys()) this.lostRequests.set(requestId, 'lost');
        this.requests.clear();
      });
    }
    if (scenario.requestExpiresAfter !== undefined) {
      this.kernel.after(scenario.requestExpiresAfter * 1_000, 'DynamoDB removes expired items', () => {
        for (const { requestId, expiresAt } of this.requests.values()) {
          if (expiresAt * 1_000 <= this.kernel.now) this.requests.delete(requestId);
        }
      });
    }
    if (scenario.cancelAfter !== undefined) {
      this.kernel.after(scenario.cancelAfter * 1_000, 'an operator cancels it', () =>
        this.#processes.cancel(theExtraction),
      );
    }
    if (scenario.eraseAfter !== undefined) {
      this.kernel.after(scenario.eraseAfter * 1_000, 'somebody asks to erase the extraction', () =>
        this.erasing.begin(),
      );
    }
    if (scenario.reconcileAfter !== undefined) {
      this.kernel.after(scenario.reconcileAfter * 1_000, 'an operator reconciles the record', () =>
        this.#processes.reconcileForOperator(theExtraction),
      );
    }
  }

  #markBefore(): void {
    const record = { requestedBy: theCaller, entity: 'bank' } as CredentialsExtraction;
    const mac = credentialsMac(fingerprintKey, record, theCredentials);
    const noticedAt = new Date(origin - 3_600_000).toISOString();
    const expiresAt = origin / 1_000 + 86_400;
    const mark = { credentialsMac: mac, extractionIds: ['another'], noticedAt, isRefused: true, expiresAt };
    this.refusals.set(mac, mark);
  }

  #prepareNewer({ newer }: Scenario): void {
    if (newer === undefined) return;
    const writeVersion = (seconds: number, what: string, schemaVersion: number): void =>
      this.kernel.after(seconds * 1_000, what, () => {
        const { record } = this;
        if (record === undefined) return;
        this.extractions.set(theExtraction, { ...record, schemaVersion } as Extraction);
      });
    writeVersion(newer.from, 'a newer version writes the record, and is rolled back', 2);
    writeVersion(newer.until, 'the record is that of this version again', 1);
  }

  #prepareBreakers({ breakers }: Scenario): void {
    const turn = { at: origin + breakerSettings.openSeconds * 1_000 };
    if (breakers?.open === true) {
      const opened = { since: origin, pause: breakerSettings.openSeconds, turn };
      const groups = ['bank', 'movement'].map((name) => ({ name, failed: [['another', origin]], opened }));
      const state = { groups, opened: { since: origin, failing: turn, others: turn, taken: 0 } };
      this.breakers.set(theCaller, { state, version: 'opened' });
    }
    const { names, from = 0, until } = breakers?.paused ?? { names: [], until: 0 };
    const paused = Object.fromEntries(names.map((name) => [name, { since: origin, reason: 'maintenance' }]));
    if (names.length === 0) return;
    const pause = () => this.breakers.set(pausesItem, { state: paused, version: 'paused' });
    if (from === 0) pause();
    else this.kernel.after(from * 1_000, 'an operator pauses calls', pause);
    this.kernel.after(until * 1_000, 'an operator resumes', () =>
      this.breakers.set(pausesItem, { state: {}, version: 'resumed' }),
    );
  }

  #prepareRate({ line }: Scenario): void {
    if (line?.takenUntil === undefined) return;
    const next = origin + line.takenUntil * 1_000;
    this.breakers.set(permitItem, { name: permitItem, next } as unknown as StoredItem);
  }

  /** The time for a process. If the clock is fine, every read of it takes a millisecond. */
  now = (): Date => {
    if (this.scenario.clock === 'fine') this.kernel.now += 1;
    return new Date(this.kernel.now);
  };

  /** The time for processes that may settle a stale start. Their clock may be ahead. */
  laterNow = (): Date => new Date(this.now().getTime() + this.scenario.skew * 1_000);

  state<Kind extends FactKind>(kind: Kind, fact: Facts[Kind]): void {
    this.#observer.fact(kind, fact, this);
  }

  readonly telemetry: Telemetry = {
    about: () => undefined,
    log: (message, fields, level) => this.#logged(message, fields ?? {}, level),
    failure: (what) => this.#logged(what, {}, 'error'),
    count: (metric, { value = 1, taskId } = {}) => {
      const alarms = metric === 'UnlinkedDelivery' || metric === 'DeliveryWithoutRecord';
      if (alarms && taskId !== undefined) this.state('alarmed', { metric, taskId });
      // Of a duration, how often it is reported.
      const times = metric.startsWith('SecondsTo') ? 1 : value;
      this.counted.set(metric, (this.counted.get(metric) ?? 0) + times);
      if (value !== 0) this.#logged(metric, { metric });
    },
  };

  #logged(message: string, fields: Readonly<Record<string, unknown>>, level = 'info'): void {
    const by = this.kernel.actor;
    const [name = ''] = by?.name.split(' ') ?? [];
    const at = new Date(this.kernel.now).toISOString();
    const service = serviceNames[name] ?? name;
    this.state('logged', { at, service, level: level.toUpperCase(), message, fields, by });
  }

  /** An answer over the size limit was downloaded in vain. */
  downloadOversized(): void {
    const by = this.kernel.actor;
    this.state('oversized', { by });
    if (by !== undefined) this.oversized.push(by);
  }

  get record(): Extraction | undefined {
    return this.extractions.get(theExtraction);
  }

  /** Whether the machine has abandoned the start, or the execution broke. */
  get hasAbandonedStart(): boolean {
    return this.execution?.abandoned === true;
  }

  /** Whether Lambda cannot load the functions of the machine and of the queue. */
  get deployIsBroken(): boolean {
    return this.kernel.now < this.startedAt + (this.scenario.brokenDeployUntil ?? 0) * 1_000;
  }

  isDead(part: Part): boolean {
    const { dead } = this.scenario;
    return dead?.parts.includes(part) === true && this.kernel.now >= this.startedAt + dead.from * 1_000;
  }

  /** Throws as a call of a dead part does. */
  requireAlive(part: Part): void {
    if (this.isDead(part)) throw new DependencyDown(part);
  }

  /** Whether starts can be in line by default, and not only after an answer of the provider that is drawn. */
  get hasLine(): boolean {
    const { breakers, line } = this.scenario;
    return breakers !== undefined || line !== undefined;
  }

  /** For how long the item of the start was in line at most, in milliseconds: from the begin of each wait to the write that ends it. */
  get inLineMs(): number {
    return this.#inLineMs + this.#msInLine(this.#lineItem);
  }

  #msInLine(item: StoredEntry | undefined): number {
    const { now } = this.kernel;
    // By a clock that may be ahead of the one that wrote the item.
    return item?.waitingSince === undefined
      ? 0
      : now + this.scenario.skew * 1_000 - Date.parse(item.waitingSince);
  }

  /** The item of the start in the line may have changed. */
  noteLine(): void {
    const before = this.#lineItem;
    const after = this.line.items.get(theExtraction);
    if (after === before) return;
    // The state InLine adds the token, and the dispatcher removes it: the wait goes on.
    if (after?.waitingSince !== before?.waitingSince) this.#inLineMs += this.#msInLine(before);
    this.#lineItem = after;
    this.state('lineItem', { before, after, by: this.kernel.actor });
    this.scheduleDispatcher();
  }

  /**
   * Whether the start window has ended, which does not count the time in line, or it has waited there for as long as it may. One that never
   * came in line, or was released, has a start window from then on.
   */
  get windowOver(): boolean {
    const { record, execution } = this;
    if (record === undefined) return false;
    const { now } = this.kernel;
    const windowMs = settings.startWindowSeconds * 1_000;
    // The process that decides may have read its item before a start wrote it.
    const isOut = [this.#lineItem, this.kernel.actor?.seenInLine].some(
      (item) =>
        item?.waitingSince !== undefined &&
        item.callbackToken === undefined &&
        now >= Date.parse(item.releasedAt ?? item.waitingSince) + windowMs,
    );
    return (
      now >= Date.parse(record.requestedAt) + windowMs + (execution?.inLineMs ?? 0) ||
      this.inLineMs >= settings.maxWaitSeconds * 1_000 ||
      isOut
    );
  }

  /** Whether every process that read the provider returned, and none of its calls failed. */
  get readsUndisturbed(): boolean {
    return this.readers.every(wentWell);
  }

  /** Whether every item of `Requests` was written and removed at once, by processes that returned. */
  get requestsUndisturbed(): boolean {
    const { made, effects, answered } = this.requestCalls;
    return made === effects && made === answered && this.kernel.interruptions === 0;
  }

  /** Whether a request is that of a record that was erased or lost. */
  isOfLostRecord(requestId: string): boolean {
    const by = this.receivers.get(requestId);
    return by !== undefined && (this.lossesBefore.get(by) ?? this.losses) < this.losses;
  }

  /**
   * The record is erased, or lost with its table. No delayed request for it is left, because an erasure waits for that and a
   * loss is not noticed at once. The execution stays, and so does its name.
   */
  #lose(): void {
    this.losses += 1;
    // The record had `oversizedAt`, which is gone, too.
    this.oversized.length = 0;
    this.extractions.delete(theExtraction);
    this.kernel.dropStrays();
    this.#scheduleSweep();
    this.#request('the caller after the loss', 'fingerprint-3', 4);
  }

  /** An erasure deletes the record, if it is still closed, of this request and in this status. The caller then repeats the request. */
  removeErased({ requestId, status }: Extraction, by: Process): boolean {
    const { record } = this;
    if (record === undefined) return true;
    if (record.dueShard !== undefined || record.status !== status || record.requestId !== requestId)
      return false;
    this.state('removed', { record, by });
    this.erasing.deleted.add(requestId);
    const { extractionId, taskId } = record;
    // The provider may have returned the task of another extraction, whose item stays.
    const linked = this.tasks.get(taskId ?? '')?.extractionId ?? extractionId;
    if (taskId !== undefined && linked === extractionId) this.erasing.erasedTasks.add(taskId);
    this.#lose();
    return true;
  }

  /** A sweep has leased the record and sends its message. */
  sends(by: Process): void {
    this.#sending.add(by);
    this.state('sweepSends', { by });
  }

  #noteWritten(before: Extraction | undefined, after: Extraction): void {
    const by = this.kernel.actor;
    const isSame = before?.settledAt === after.settledAt && before?.collectedAt === after.collectedAt;
    if (by !== undefined && !isSame) this.#written.set(by, [...(this.#written.get(by) ?? []), after]);
  }

  /** The record has refused a change of this process, which may have made it before without an answer. */
  noteRefusal(by: Process, change: Update, record: Extraction): void {
    const { set, readRefusal } = change as Change;
    const isOnlyATime = set.settledAt !== undefined || set.collectedAt !== undefined;
    if (!isOnlyATime || readRefusal(record) !== 'written') return;
    const isOwn = this.#written.get(by)?.some((own) => readRefusal(own) === 'written') === true;
    if (!isOwn) this.mistaken.add(by);
  }

  #noteDueAt(before: Extraction | undefined, after: Extraction): void {
    if (before?.dueAt === after.dueAt || after.dueAt === undefined) return;
    this.dueAtWrites += 1;
    const by = this.kernel.actor;
    if (by !== undefined) this.setDueAt.add(by);
  }

  /** A late start is recorded without the item of its request only if that could not be put back. */
  #noteReopening(before: Extraction | undefined, { requestId, attemptId = '' }: Extraction): void {
    const attempt = this.attempts.get(attemptId);
    if (before?.status !== 'UNCONFIRMED' || attempt === undefined || this.requests.has(requestId)) return;
    if (hasFailedThrice(attempt, 'put requests')) this.lostRequests.set(requestId, 'lost');
  }

  /** The write of a sweep before it sends is its lease. */
  #noteLease(before: Extraction | undefined, after: Extraction): void {
    const by = this.kernel.actor;
    if (by?.name.startsWith('sweep') !== true || this.#sending.has(by)) return;
    const moved = Date.parse(after.dueAt ?? '') > this.kernel.now;
    this.leases.push({ by, seen: before?.dueAt ?? '', moved });
  }

  /** A delivery was answered with 2xx. */
  acknowledge(taskId: string): void {
    if (this.acknowledged.has(taskId)) return;
    this.acknowledged.set(taskId, { linked: this.tasks.get(taskId)?.extractionId !== undefined });
  }

  /** A delivery of the provider. */
  receive(task: ProviderTask, answered: (acknowledged: boolean) => void): void {
    if (this.isDead('webhook')) answered(false);
    else this.#processes.webhook(task, answered);
  }

  /** StartExecution. An existing name is success. */
  startExecution(input: ExecutionInput): void {
    this.requireAlive('machine');
    if (this.execution !== undefined) return;
    this.state('executionStarted', {});
    const { startTask, reconcileForMachine } = this.#processes;
    this.execution = new Execution(this, { startTask, reconcile: reconcileForMachine }, input);
  }

  /** EventBridge delivers the event of a broken execution: at best effort, and sometimes more than once. */
  executionBroke(extractionId: string): void {
    const deliver = (times: number) => (): void => {
      for (let time = 0; time < times; time += 1) this.#brokenExecution(extractionId);
    };
    void this.kernel.call<void>('rule', {
      name: 'event of the broken execution',
      kind: 'once',
      take: deliver(1),
      others: [
        { name: 'lost', take: () => undefined },
        { name: 'twice', take: deliver(2) },
      ],
    });
  }

  #brokenExecution(extractionId: string): void {
    if (this.isDead('rule') || this.isDead('queue')) return;
    this.queue.accept({ extractionId, cause: 'execution-broken' }, 0);
  }

  /** A caller, who repeats the request if there is no answer. */
  #request(caller: string, fingerprint: string, tries: number): void {
    this.#processes.intake(caller, fingerprint, (answered) => {
      if (answered || tries === 1) return;
      this.kernel.after(1_000, `${caller} repeats the request`, () =>
        this.#request(caller, fingerprint, tries - 1),
      );
    });
  }

  /** A dispatcher runs now, unless all are dead. */
  dispatch(): void {
    const { deadFrom = Number.POSITIVE_INFINITY } = this.scenario.line ?? {};
    if (this.kernel.now < this.startedAt + deadFrom * 1_000) this.#processes.dispatch();
  }

  /** The next dispatcher, while a start is in line. Nobody sees the others. */
  scheduleDispatcher(): void {
    const { now } = this.kernel;
    const { deadFrom = Number.POSITIVE_INFINITY } = this.scenario.line ?? {};
    const isNeeded = this.line.items.get(theExtraction)?.callbackToken !== undefined;
    if (!isNeeded) {
      this.kernel.timers.clear(this.#dispatcher);
      this.#dispatcher = undefined;
    }
    const at = origin + (Math.floor((now - origin) / dispatchEveryMs) + 1) * dispatchEveryMs;
    // Without it, one would find for ever what nobody can release.
    if (this.scenario.dead !== undefined && at > origin + lastDispatchMs) return;
    if (!isNeeded || this.#dispatcher !== undefined || at >= origin + deadFrom * 1_000) return;
    this.#dispatcher = this.kernel.timers.set(at, 'a dispatcher is due', () => {
      this.#dispatcher = undefined;
      this.dispatch();
      this.scheduleDispatcher();
    });
  }

  /** A sweep without due records changes nothing, so only the next one with a due record is scheduled. */
  #scheduleSweep(): void {
    this.kernel.timers.clear(this.#sweep);
    this.#sweep = undefined;
    const due = [...this.extractions.values()].flatMap(({ dueShard, dueAt }) =>
      dueShard === undefined || dueAt === undefined ? [] : [Date.parse(dueAt)],
    );
    if (due.length === 0) return;
    const every = settings.sweepEveryMinutes * 60_000;
    const earliest = Math.max(Math.min(...due), this.#sweptAt + 1, this.kernel.now);
    const at = origin + Math.ceil((earliest - origin) / every) * every;
    // Without it, the sweep would find what nobody can close for ever.
    if (this.scenario.dead !== undefined && at > origin + lastSweepMs) return;
    this.#sweep = this.kernel.timers.set(at, 'the sweep is due', () => {
      if (this.isDead('sweep')) return;
      this.#sweptAt = at;
      this.#processes.sweep();
      this.#scheduleSweep();
    });
  }

  #events(): WorldEvent[] {
    const atMostOnce = (name: string, possible: () => boolean, happen: () => void): WorldEvent => {
      let happened = false;
      return {
        name,
        possible: () => !happened && possible(),
        happen: () => {
          happened = true;
          happen();
        },
      };
    };
    const has = (statuses: readonly ExecutionStatus[]) => (): boolean =>
      this.execution !== undefined && statuses.includes(this.execution.status);
    const isRecorded = (): boolean => this.record !== undefined;
    const isOpen = (): boolean => this.record?.dueShard !== undefined && !this.isDead('sweep');
    const hasRemoved = (): boolean =>
      [...this.erasing.tombstones.values()].some(({ erasedAt }) => erasedAt !== undefined);
    const isAbandoned = (): boolean => this.hasAbandonedStart && this.execution?.status !== 'SUCCEEDED';
    const request = (caller: string, fingerprint: string) => () => this.#request(caller, fingerprint, 1);
    const always = (): boolean => true;
    return [
      atMostOnce('an operator stops the execution', has(['RUNNING']), () => this.execution?.abort()),
      atMostOnce('an operator redrives the execution', has(['FAILED', 'TIMED_OUT', 'ABORTED']), () =>
        this.execution?.redrive(),
      ),
      atMostOnce('the caller repeats the request', always, request('the caller again', 'fingerprint-1')),
      atMostOnce(
        'another caller sends a request under the same key',
        always,
        request('another request', 'fingerprint-2'),
      ),
      atMostOnce('the record is lost, and the caller repeats the request', isRecorded, () => this.#lose()),
      atMostOnce('an operator erases the record, and the caller repeats the request', isRecorded, () =>
        this.erasing.begin(),
      ),
      atMostOnce('an additional sweep runs', isOpen, () => this.#processes.sweep()),
      atMostOnce('an operator reconciles the record', isRecorded, () =>
        this.#processes.reconcileForOperator(theExtraction),
      ),
      atMostOnce('the rule is late', isAbandoned, () => this.#brokenExecution(theExtraction)),
      atMostOnce('an operator restores a backup', hasRemoved, () => this.#processes.restoreBackup()),
    ];
  }
}
