import { defined } from '#lib/defined.ts';
import { finishedStatus } from '#lib/provider/assumptions.ts';
import type { ExtractionAnswer } from '#lib/provider/extractions/read-extraction.ts';
import type { TaskReading } from '#lib/provider/tasks/read-task.ts';
import { ProviderAmbiguous, ProviderUnreachable } from '#lib/provider/transport/errors.ts';
import { statusError } from '#lib/provider/transport/send-request.ts';
import { TransportFailure } from '#lib/provider/transport/transport-failure.ts';
import { randomOf } from '../../support/data/random.ts';
import { endedReading } from '../models/provider.ts';
import type { CallKind, Member, ProviderRate, Trouble } from './draw-population.ts';
import type { Process } from './process.ts';
import type { Service } from './service.ts';
import { settings } from './settings.ts';

/** A call that was made. */
export type ProviderCall = {
  readonly kind: CallKind;
  readonly process: string;
  /** The extraction that the process works on. */
  readonly of: string;
  readonly at: number;
  /** Undefined while it is under way. */
  endedAt?: number;
  result?: 'success' | 'trouble' | 'refused';
};

type ProviderTask = { readonly taskId: string; readonly owner: Member; readonly endsAt: number };

const cause = (code: string): TransportFailure =>
  new TransportFailure(Object.assign(new Error(code), { code }));

const answered = (status: number, retryAfterSeconds?: number): Error => {
  const error = statusError(status, 'call');
  if (retryAfterSeconds !== undefined) error.retryAfter = { kind: 'delay', seconds: retryAfterSeconds };
  return error;
};

/** A limiter of starts. */
class Limiter {
  readonly #rate: ProviderRate;
  readonly #random = randomOf(5);
  #level: number;
  #at = 0;
  #lastSecond: number[] = [];

  constructor(rate: ProviderRate) {
    this.#rate = rate;
    this.#level = rate.burst;
  }

  /** Whether it takes a start, so many seconds from the start. */
  takes(seconds: number): boolean {
    const { perSecond, burst, limiter, strayOneIn } = this.#rate;
    if (strayOneIn !== undefined && this.#random.below(strayOneIn) === 0) return false;
    if (limiter === 'last-second') {
      this.#lastSecond = [...this.#lastSecond.filter((at) => seconds - at < 1), seconds];
      return this.#lastSecond.length <= perSecond(seconds);
    }
    this.#level = Math.min(burst, this.#level + (seconds - this.#at) * perSecond(seconds));
    this.#at = seconds;
    const isTaken = this.#level >= 1;
    if (isTaken || limiter === 'counts-all') this.#level = Math.max(-burst, this.#level - 1);
    return isTaken;
  }
}

/** The provider. It notes the calls that it gets. */
export class Provider {
  readonly calls: ProviderCall[] = [];
  readonly tasks = new Map<string, ProviderTask>();
  readonly #service: Service;
  readonly #origin: number;
  /** The Task Tokens by their text, and whose they are. */
  readonly #targets = new Map<string, string>();
  readonly #limiter: Limiter | undefined;
  readonly #ofUsers = new Map<string, Limiter>();

  constructor(service: Service) {
    this.#service = service;
    this.#origin = service.time.now;
    const { rate } = service.population;
    this.#limiter = rate === undefined ? undefined : new Limiter(rate);
  }

  logIn(process: Process, maxCallMs: number): Promise<string> {
    return this.#answer(process, 'login', maxCallMs, () => `session-${this.calls.length}`);
  }

  createTaskToken(process: Process, target: string, maxCallMs: number): Promise<string> {
    return this.#answer(process, 'task token', maxCallMs, () => {
      const token = `task-token-${this.calls.length}`;
      this.#targets.set(token, target);
      return token;
    });
  }

  startTask(process: Process): Promise<string> {
    return this.#answer(process, 'start', settings.providerTimeoutMs, async () => {
      const { now } = this.#service.time;
      const owner = this.#service.memberOf(process.of);
      const { answers = 429, retryAfter, ofUser } = this.#service.population.rate ?? {};
      const since = (now - this.#origin) / 1_000;
      if (ofUser !== undefined && owner.reference !== undefined) {
        const limiter = this.#ofUsers.get(owner.reference) ?? new Limiter(ofUser);
        this.#ofUsers.set(owner.reference, limiter);
        if (!limiter.takes(since)) throw answered(429, ofUser.retryAfter);
      }
      if (this.#limiter?.takes(since) === false) {
        if (answers !== 'hangs') throw answered(answers, retryAfter);
        await this.#fail('hangs', process, settings.providerTimeoutMs);
      }
      const repeated =
        owner.trouble === 'repeats a task id'
          ? // One whose start was interrupted is linked to nobody, so that nothing shows whose it is.
            [...this.tasks.values()].find(
              ({ taskId }) => this.#service.tasks.get(taskId)?.extractionId !== undefined,
            )
          : undefined;
      if (repeated !== undefined) return repeated.taskId;
      const task = { taskId: `task-of-${owner.extractionId}`, owner, endsAt: now + owner.takes * 1_000 };
      this.tasks.set(task.taskId, task);
      const { takes, replayedAfter, ends, replayedAs = ends } = owner;
      const deliverAfter = (seconds: number, of = owner): void =>
        this.#service.time.after(seconds * 1_000, () => this.#service.deliver(task.taskId, of));
      if (owner.method === 'credentials' && owner.delivered) {
        deliverAfter(takes);
        if (replayedAfter !== undefined)
          deliverAfter(takes + replayedAfter, { ...owner, ...defined({ ends: replayedAs }) });
      }
      return task.taskId;
    });
  }

  readTask(process: Process, taskId: string, maxCallMs: number): Promise<TaskReading> {
    return this.#answer(process, 'read', maxCallMs, () => {
      const task = this.#find(taskId);
      // The two methods have endpoints of their own.
      if (task.owner.method === 'consent') throw answered(404);
      if (this.#isRunning(task)) return { taskStatus: 'RUNNING', results: null, bytes: new Uint8Array() };
      return endedReading(task.owner.ends ?? 'COMPLETED', bytesOf(task.owner));
    });
  }

  readExtraction(
    process: Process,
    taskToken: string,
    taskId: string,
    maxCallMs: number,
  ): Promise<ExtractionAnswer> {
    return this.#answer(process, 'read', maxCallMs, () => {
      const task = this.#find(taskId);
      if (this.#targets.get(taskToken) !== task.owner.extractionId) throw answered(403);
      if (this.#isRunning(task)) return { kind: 'in-progress' };
      return { kind: 'answered', taskStatus: finishedStatus, data: [], bytes: bytesOf(task.owner) };
    });
  }

  #find(taskId: string): ProviderTask {
    const task = this.tasks.get(taskId);
    if (task === undefined) throw answered(404);
    return task;
  }

  #isRunning({ endsAt }: ProviderTask): boolean {
    return this.#service.time.now < endsAt;
  }

  /** What is wrong with a call, at the moment at which it is made. */
  #troubleOf(kind: CallKind, of: string): Trouble | undefined {
    const { trouble, calls } = this.#service.memberOf(of);
    if (trouble !== undefined && calls?.includes(kind)) return trouble;
    const since = (this.#service.time.now - this.#origin) / 1_000;
    return this.#service.population.outages.find(
      ({ from, to, calls: affected }) => affected.includes(kind) && since >= from && since < to,
    )?.trouble;
  }

  async #answer<T>(
    process: Process,
    kind: CallKind,
    maxCallMs: number,
    value: () => T | Promise<T>,
  ): Promise<T> {
    const { time, choices } = this.#service;
    const call: ProviderCall = { kind, process: process.name, of: process.of, at: time.now };
    this.calls.push(call);
    const trouble = this.#troubleOf(kind, process.of);
    try {
      await process.wait(choices.milliseconds(process.of, 50, 300));
      if (trouble !== undefined) await this.#fail(trouble, process, maxCallMs);
      const answer = await value();
      call.result = 'success';
      return answer;
    } catch (error) {
      const isTrouble = error instanceof ProviderAmbiguous || error instanceof ProviderUnreachable;
      call.result = isTrouble ? 'trouble' : 'refused';
      throw error;
    } finally {
      call.endedAt = time.now;
    }
  }

  /** Throws, unless the trouble is only slow, or is over. */
  async #fail(trouble: Trouble, process: Process, maxCallMs: number): Promise<void> {
    const { time, choices } = this.#service;
    switch (trouble) {
      case 'repeats a task id':
        return;
      case 'answers in 8 s':
        return process.wait(choices.milliseconds(process.of, 0, 8_000));
      case 'slow': {
        const takes = choices.milliseconds(process.of, 6_000, 15_000);
        if (takes < maxCallMs) return process.wait(takes);
        return this.#fail('hangs', process, maxCallMs);
      }
      case 'refuses':
        throw new ProviderUnreachable('refused', { cause: cause('ECONNREFUSED') });
      case 'hangs':
        await process.wait(maxCallMs);
        throw new ProviderAmbiguous('timeout', { cause: cause('ETIMEDOUT') });
      case 'ends the process':
        return process.end('Runtime.OutOfMemory');
      case 'fails one call in ten':
        if (choices.choose(process.of, 10) !== 9) return;
        throw answered(503);
      case 'flaps':
        if (Math.floor((time.now - this.#origin) / 10_000) % 2 === 1) return;
        throw answered(503);
      case 'answers 503 for an hour':
        throw answered(503, 3_600);
      case 'answers 429 for the user':
        if (time.now - this.#origin > 30_000) return;
        throw Object.assign(answered(429), { refusal: 'processAlreadyRunning' });
      case 'answers 429 for ten minutes':
        if (time.now - this.#origin > 600_000) return;
        throw answered(429);
      case 'answers 503 for a minute':
        if (time.now - this.#origin > 60_000) return;
        throw answered(503);
      case 'answers 429':
        throw answered(429, 120);
      default:
        throw answered(Number(trouble.slice(-3)));
    }
  }
}

/** What the task of an extraction returns: a text that no other task returns. */
export const resultsOf = ({ extractionId }: Member): string => `results of ${extractionId}`;

const bytesOf = (owner: Member): Uint8Array => Buffer.from(resultsOf(owner));
