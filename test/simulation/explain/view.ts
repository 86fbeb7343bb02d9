import type { Extraction } from '#lib/extraction/record.ts';
import type { FactKind, Facts } from '../world/facts.ts';
import type { Process } from '../world/process.ts';
import { settings } from '../world/settings.ts';
import type { Moment, Trace } from './observe-world.ts';

type Happened<Kind extends FactKind> = { readonly at: number; readonly content: Facts[Kind] };

/** In milliseconds. Every read of a clock takes one, and a process reads it again and again before its write takes effect. */
const slackMs = 5_000;

/** What a trace shows of one moment: what had happened by then, and what came of it. */
export class View {
  readonly trace: Trace;
  readonly moment: Moment;
  readonly #cache = new Map<string, unknown>();

  constructor(trace: Trace, moment: Moment) {
    this.trace = trace;
    this.moment = moment;
  }

  /** Clocks of processes may be ahead or behind. */
  get slackMs(): number {
    const { skew, lag } = this.trace.world.scenario;
    return slackMs + 1_000 * (skew + lag);
  }

  #of<Kind extends FactKind>(kind: Kind, when: 'before' | 'after'): readonly Happened<Kind>[] {
    const name = `${kind} ${when}`;
    const { position } = this.moment;
    const { events } = this.trace;
    const found =
      this.#cache.get(name) ??
      (when === 'before' ? events.slice(0, position) : events.slice(position)).filter(
        (event) => event.kind === kind,
      );
    this.#cache.set(name, found);
    return found as readonly Happened<Kind>[];
  }

  before<Kind extends FactKind>(kind: Kind): readonly Happened<Kind>[] {
    return this.#of(kind, 'before');
  }

  after<Kind extends FactKind>(kind: Kind): readonly Happened<Kind>[] {
    return this.#of(kind, 'after');
  }

  /** The writes of this record, and of none that had its id before or after. */
  #writes(when: 'before' | 'after'): readonly Happened<'record'>[] {
    const { requestId } = this.moment.record ?? {};
    return this.#of('record', when).filter(({ content }) => content.after.requestId === requestId);
  }

  /** The write that brought the status that the record has. */
  get statusWrite(): Happened<'record'> | undefined {
    return this.#writes('before').findLast(
      ({ content: { before, after } }) => before?.status !== after.status,
    );
  }

  /** The last write before which the record differed in this attribute. */
  writeOf(name: keyof Extraction): Happened<'record'> | undefined {
    return this.#writes('before').findLast(
      ({ content: { before, after } }) => before?.[name] !== after[name] && after[name] !== undefined,
    );
  }

  get later(): readonly Happened<'record'>[] {
    return this.#writes('after');
  }

  /** The next write of another status. */
  get nextStatus(): Happened<'record'> | undefined {
    return this.later.find(({ content: { before, after } }) => before?.status !== after.status);
  }

  /** The write that closes it. */
  get close(): Happened<'record'> | undefined {
    return this.later.find(({ content: { after } }) => after.dueShard === undefined);
  }

  /** Whether the record was erased, lost or written by a newer version after this moment, so that nothing of it can be foretold. */
  get isCutShort(): boolean {
    const { world } = this.trace;
    const { requestId, schemaVersion } = this.moment.record ?? {};
    return world.record?.requestId !== requestId || schemaVersion !== 1 || world.scenario.newer !== undefined;
  }

  /** Clocks differ, so that for some processes more or less is over than the story says. */
  get hasLag(): boolean {
    const { lag, skew } = this.trace.world.scenario;
    return lag > 0 || skew > 0;
  }

  /** Nothing shows that the sealed data of the request are lost, until a read misses them. */
  get isUnforeseeable(): boolean {
    return this.isCutShort || this.hasLag || this.trace.world.lostRequests.size > 0;
  }

  /** The processes that began after this moment. */
  isLater(process: Process | undefined): boolean {
    return process !== undefined && process.startedAt > this.moment.now;
  }

  /** Whether a reconcile had ended by this moment. */
  hasFinished(process: Process): boolean {
    return this.before('logged').some(
      ({ content }) => content.by === process && content.message === 'Reconcile finished.',
    );
  }

  /** The events of the history, whose first one is `position`. */
  get history() {
    return this.before('history').map(({ content }) => content);
  }

  get visit() {
    const entered = this.history.findLastIndex(({ type }) => type === 'TaskStateEntered');
    return this.history.slice(Math.max(0, entered));
  }

  /** When the wait of the last try to start for its webhook ends. */
  get webhookWaitEnd(): number {
    const { history } = this;
    const left = history.findLastIndex(
      ({ state, type }) => type === 'TaskStateExited' && state === 'StartTask',
    );
    const tries = history
      .slice(0, left === -1 ? undefined : left)
      .filter(({ type }) => type === 'TaskScheduled');
    return Date.parse(tries.at(-1)?.at ?? '') + settings.webhookWaitSeconds * 1_000;
  }

  get isExecutionOver(): boolean {
    return /^Execution(?!Started|Redriven)/.test(this.history.at(-1)?.type ?? '');
  }

  get requestedAt(): number {
    return Date.parse(this.moment.record?.requestedAt ?? '');
  }

  get deadline(): number {
    return this.requestedAt + settings.deadlineSeconds * 1_000;
  }

  /** When the first delivery of this record's task was stored. */
  get storedDelivery(): Happened<'taskItem'> | undefined {
    const taskId = this.moment.record?.taskId;
    return this.before('taskItem').find(
      ({ content: { before, after } }) =>
        after.taskId === taskId && before?.taskStatus === undefined && after.taskStatus !== undefined,
    );
  }
}
