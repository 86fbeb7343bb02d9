import type { ExecutionInput } from '../../../lib/extraction/api/request-extraction.ts';
import type { Journal } from '../../../lib/extraction/journal.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { SealedRequestData } from '../../../lib/extraction/sealed-request-data.ts';
import type { Task } from '../../../lib/extraction/store.ts';
import { processesOf } from '../actors/processes.ts';
import type { OptionList } from '../scheduler/option.ts';
import type { FactKind, Facts } from './facts.ts';
import { Kernel, type WorldEvent } from './kernel.ts';
import { Execution } from './machine.ts';
import type { Process } from './process.ts';
import { Provider, type ProviderTask } from './provider.ts';
import type { Scenario } from './scenario.ts';
import { lifeOf, settings } from './settings.ts';
import { theExtraction } from './the-extraction.ts';
import { WatchedRows } from './watched-rows.ts';

/** What somebody outside the world is told of it. */
export type WorldObserver = {
  readonly fact: <Kind extends FactKind>(kind: Kind, fact: Facts[Kind], world: World) => void;
  readonly chosen: (world: World, step: number, index: number, options: OptionList) => void;
  readonly counted: (what: string) => void;
  readonly stopped: () => boolean;
};

/** When every schedule begins. */
const origin = Date.parse('2026-03-01T12:00:00.000Z');

/** One life of one extraction: the tables, the machine, the provider, the caller, and who acts on them. */
export class World {
  readonly begunAt = origin;
  readonly scenario: Scenario;
  readonly kernel: Kernel;
  readonly provider: Provider;
  readonly executions = new Map<string, Execution>();
  readonly extractions: WatchedRows<Extraction>;
  readonly tasks: WatchedRows<Task>;
  /** What was sealed, by its ciphertext, and by which invocation of intake. */
  readonly sealed = new Map<string, { readonly plaintext: SealedRequestData; readonly by: Process }>();
  /** How often the record was lost. */
  losses = 0;
  /** Which record each invocation of intake made or found: how many were lost before it. */
  readonly askedFor = new Map<Process, number>();
  readonly counted = new Map<string, number>();
  /** Which process made which attempt. */
  readonly attempts = new Map<string, Process>();
  /** Every change of status, as `from>to`. */
  readonly transitions: string[] = [];
  /** Tasks of which a terminal delivery was answered with 2xx, and whether each was linked then. */
  readonly acknowledged = new Map<string, { readonly linked: boolean }>();
  /** Tokens of invocations of start-task that came to their end, */
  readonly concluded = new Set<string>();
  /** and those of them that were left for a webhook. */
  readonly linked = new Set<string>();
  /** Which sweep took a record on, and what `dueAt` it saw there. */
  readonly claims: { readonly by: Process; readonly seen: string; readonly moved: boolean }[] = [];
  /** The processes that read the provider. */
  readonly readers: Process[] = [];
  /** Those of them whose answer was over the cap, in order. */
  readonly oversized: Process[] = [];
  readonly #looking = new Set<Process>();
  readonly #observer: WorldObserver;
  readonly #processes: ReturnType<typeof processesOf>;
  #sweep: ReturnType<Kernel['timers']['set']> | undefined;
  #sweptAt = origin;

  constructor(scenario: Scenario, observer: WorldObserver) {
    this.scenario = scenario;
    this.#observer = observer;
    this.#processes = processesOf(this);
    this.kernel = new Kernel(origin, this.#events(), {
      counted: observer.counted,
      chosen: (step, index, options) => observer.chosen(this, step, index, options),
      stopped: observer.stopped,
    });
    this.provider = new Provider(this);
    this.extractions = new WatchedRows((before, after) => {
      if (before?.status !== after.status) this.transitions.push(`${before?.status ?? ''}>${after.status}`);
      this.#noteClaim(before, after);
      this.state('row', { before, after, by: this.kernel.actor });
      this.#scheduleSweep();
    });
    this.tasks = new WatchedRows((before, after) => this.state('taskRow', { before, after }));
    this.#request('the caller', 'fingerprint-1', 4);
    if (scenario.lookAfter !== undefined) {
      this.kernel.after(scenario.lookAfter * 1_000, 'an operator asks for a look', () =>
        this.#processes.reconcileForOperator(theExtraction),
      );
    }
  }

  /** The time, to one of our processes. Where the clock is fine, to look at it takes a millisecond. */
  now = (): Date => {
    if (this.scenario.clock === 'fine') this.kernel.now += 1;
    return new Date(this.kernel.now);
  };

  /** The time to those who look after others, whose clock may be ahead. */
  laterNow = (): Date => new Date(this.now().getTime() + this.scenario.skew * 1_000);

  state<Kind extends FactKind>(kind: Kind, fact: Facts[Kind]): void {
    this.#observer.fact(kind, fact, this);
  }

  readonly journal: Journal = {
    about: () => undefined,
    info: () => undefined,
    failure: () => undefined,
    count: (metric) => {
      this.counted.set(metric, (this.counted.get(metric) ?? 0) + 1);
    },
  };

  /** An answer is over the cap: it has been downloaded that far, and is lost. */
  downloadOversized(): void {
    const by = this.kernel.actor;
    this.state('oversized', { by });
    if (by !== undefined) this.oversized.push(by);
  }

  get record(): Extraction | undefined {
    return this.extractions.get(theExtraction);
  }

  /** Whether the machine has given up starting, or an execution was broken off. */
  get hasAbandonedStart(): boolean {
    return this.execution?.gaveUp === true;
  }

  /** Whether a start may no longer be tried. */
  get windowOver(): boolean {
    const { record } = this;
    return (
      record !== undefined &&
      this.kernel.now >= Date.parse(record.requestedAt) + settings.startWindowSeconds * 1_000
    );
  }

  /** Whether what is sealed there was sealed for a record that is lost. */
  isOfLostRecord(ciphertext: string): boolean {
    const by = this.sealed.get(ciphertext)?.by;
    return by !== undefined && (this.askedFor.get(by) ?? this.losses) < this.losses;
  }

  /**
   * The record is gone: erased, or lost with its table. What was on its way to it has come by then, as an erasure
   * waits for that, and a loss is not noticed at once. The execution stays, and so does its name.
   */
  #lose(): void {
    this.losses += 1;
    // With the record goes what it remembered of them.
    this.oversized.length = 0;
    this.extractions.delete(theExtraction);
    this.kernel.dropStrays();
    this.#scheduleSweep();
    this.#request('the caller anew', 'fingerprint-3', 4);
  }

  /** An operator has it erased, once it has been closed for longer than a function runs. */
  #erase(wasClosed = false): void {
    const { record } = this;
    if (record === undefined) return;
    const isClosed = record.dueShard === undefined;
    if (isClosed && wasClosed) {
      this.#lose();
      return;
    }
    this.kernel.after(lifeOf.reconcile * 1_000 + 1, 'an operator tries to erase the record', () =>
      this.#erase(isClosed),
    );
  }

  /** A sweep is done with claiming, and begins. */
  reconciles(by: Process): void {
    this.#looking.add(by);
    this.state('sweepReconciles', { extractionId: theExtraction, by });
  }

  /** What a sweep writes before it begins is its claim. */
  #noteClaim(before: Extraction | undefined, after: Extraction): void {
    const by = this.kernel.actor;
    if (by?.name.startsWith('sweep') !== true || this.#looking.has(by)) return;
    const moved = Date.parse(after.dueAt ?? '') > this.kernel.now;
    this.claims.push({ by, seen: before?.dueAt ?? '', moved });
  }

  /** A delivery was answered with 2xx. */
  acknowledge(taskId: string): void {
    if (this.acknowledged.has(taskId)) return;
    this.acknowledged.set(taskId, { linked: this.tasks.get(taskId)?.extractionId !== undefined });
  }

  get execution(): Execution | undefined {
    return this.executions.get(theExtraction);
  }

  /** The provider POSTs to our webhook. */
  receive(task: ProviderTask, answered: (acknowledged: boolean) => void): void {
    this.#processes.webhook(task, answered);
  }

  /** StartExecution. A name that is taken is success. */
  startExecution(input: ExecutionInput): void {
    if (this.executions.has(input.extractionId)) return;
    this.state('executionStarted', { extractionId: input.extractionId });
    this.executions.set(
      input.extractionId,
      new Execution(
        this,
        { startTask: this.#processes.startTask, reconcile: this.#processes.reconcileForMachine },
        input,
      ),
    );
  }

  /** EventBridge tells of an execution that broke: best effort, and at times more than once. */
  executionBroke(extractionId: string): void {
    const deliver = (times: number) => (): void => {
      for (let time = 0; time < times; time += 1) this.#processes.reconcileForRule(extractionId, 1);
    };
    void this.kernel.call<void>(undefined, 'rule', {
      name: 'tells that the execution broke',
      kind: 'once',
      take: deliver(1),
      others: [
        { name: 'lost', take: () => undefined },
        { name: 'twice', take: deliver(2) },
      ],
    });
  }

  /** A caller, who asks again where no answer came. */
  #request(caller: string, fingerprint: string, tries: number): void {
    this.#processes.intake(caller, fingerprint, (answered) => {
      if (answered || tries === 1) return;
      this.kernel.after(1_000, `${caller} asks again`, () => this.#request(caller, fingerprint, tries - 1));
    });
  }

  /** A sweep that finds nothing due changes nothing, so the next one that does is what is waited for. */
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
    this.#sweep = this.kernel.timers.set(at, 'the sweep is due', () => {
      this.#sweptAt = at;
      this.#processes.sweep();
      this.#scheduleSweep();
    });
  }

  #events(): WorldEvent[] {
    const once = (name: string, possible: () => boolean, happen: () => void): WorldEvent => {
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
    const status = () => this.execution?.status;
    const broken = () => status() === 'FAILED' || status() === 'TIMED_OUT' || status() === 'ABORTED';
    return [
      once(
        'an operator stops the execution',
        () => status() === 'RUNNING',
        () => this.execution?.abort(),
      ),
      once('an operator redrives the execution', broken, () => this.execution?.redrive()),
      once(
        'the caller repeats the request',
        () => true,
        () => this.#request('the caller again', 'fingerprint-1', 1),
      ),
      once(
        'another request comes under the same key',
        () => true,
        () => this.#request('another request', 'fingerprint-2', 1),
      ),
      once(
        'the record is lost, and the caller asks anew',
        () => this.record !== undefined,
        () => this.#lose(),
      ),
      once(
        'an operator has the record erased, and the caller asks anew',
        () => this.record !== undefined,
        () => this.#erase(),
      ),
      once(
        'a sweep comes out of turn',
        () => this.record?.dueShard !== undefined,
        () => this.#processes.sweep(),
      ),
      once(
        'an operator asks for a look',
        () => this.record !== undefined,
        () => this.#processes.reconcileForOperator(theExtraction),
      ),
      once(
        'the rule tells of the execution late',
        () => this.execution?.gaveUp === true && this.execution.status !== 'SUCCEEDED',
        () => this.#processes.reconcileForRule(theExtraction, 0),
      ),
    ];
  }
}
