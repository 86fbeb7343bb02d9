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
    let state: string | undefined;
    let tried = '';
    for (const event of this.history) {
      if (event.type === 'TaskStateEntered') state = event.state;
      if (event.type === 'TaskScheduled' && state === 'StartTask') tried = event.at;
    }
    return Date.parse(tried) + settings.webhookWaitSeconds * 1_000;
  }

  /**
   * For how long it has waited in line before this time, in milliseconds: at least while its callback token was there, and at most from the
   * begin of each wait to the write that ended it.
   */
  inLineMs(until = this.moment.now): { readonly least: number; readonly most: number } {
    const { requestId } = this.moment.record ?? {};
    const items = this.before('lineItem').filter(({ at }) => at <= until);
    const msOf = (name: 'callbackToken' | 'waitingSince', beginOf: (value: string, at: number) => number) => {
      let [ms, begin]: [number, number | undefined] = [0, undefined];
      let value: string | undefined;
      for (const { at, content } of items) {
        const now = content.after?.requestId === requestId ? content.after?.[name] : undefined;
        if (now === value) continue;
        if (begin !== undefined) ms += at - begin;
        value = now;
        begin = now === undefined ? undefined : beginOf(now, at);
      }
      return ms + (begin === undefined ? 0 : until - begin);
    };
    return {
      least: msOf('callbackToken', (_token, at) => at),
      // The write may be late.
      most: msOf('waitingSince', (since) => Date.parse(since)),
    };
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

  /** When it was put in line last, as its item says. */
  get waitingSince(): string | undefined {
    return this.before('lineItem').at(-1)?.content.after?.waitingSince;
  }

  /** When the start was claimed last. */
  get claimedAt(): number {
    const isClaim = ({ content: { before, after } }: Happened<'record'>): boolean =>
      before?.status === 'REQUESTED' && after.status === 'STARTING';
    return this.#writes('before').findLast(isClaim)?.at ?? this.requestedAt;
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
