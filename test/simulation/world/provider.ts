import type { TerminalStatus } from '../../../lib/extraction/record.ts';
import {
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../../../lib/provider/transport/errors.ts';
import type { Call, Late, OtherAnswer } from './call.ts';
import type { StartAnswer } from './scenario.ts';
import { deliveries, settings } from './settings.ts';
import { anotherExtraction } from './the-extraction.ts';
import type { World } from './world.ts';

/** A task at the provider. Times in milliseconds. */
export type ProviderTask = {
  readonly taskId: string;
  /** Whose it is; the id of another's may be the answer to a start call, too. */
  readonly extractionId: string;
  readonly endsAt: number;
  readonly status: TerminalStatus;
  readonly readAs: TerminalStatus;
  readonly forgottenAt: number;
  /** Whether the provider has heard a 2xx. */
  heard: boolean;
};

/** A start call that the provider answered, or did not. */
export type StartCallMade = {
  readonly extractionId: string;
  /** Whether a task was made of it. */
  readonly taken: boolean;
  /** Whether the answer says for sure that none was. */
  readonly surelyNot: boolean;
  /** Whether it was answered with a taskId or with a refusal. */
  readonly answered: boolean;
};

/** What the simulated provider says of a v2 task that is read. */
export type ReadAnswer =
  | { readonly kind: 'running'; readonly word: string }
  | { readonly kind: 'ended'; readonly status: TerminalStatus };

/** What it answers to the poll of an extraction by consent, as HTTP has it. */
export type PollAnswer = { readonly status: number; readonly body: string };

const withoutResults: readonly TerminalStatus[] = ['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];

/** Statuses that say nothing of the task, whatever their body: a gateway's, a limit's, a token's. */
const aboutThePoll = [401, 403, 404, 408, 425, 429, 500, 502, 504] as const;

const failed = (status: number): PollAnswer => ({ status, body: JSON.stringify({ errorType: 'ENTITY' }) });

/** The cap on an answer. */
export const mostBytes = 512;

const patience = settings.providerTimeoutMs / 1_000;
const hasWebhook = (method: string): boolean => method === 'credentials';

/** The provider: takes start calls, lets tasks end, tells of it by webhook, and answers reads. */
export class Provider {
  readonly tasks = new Map<string, ProviderTask>();
  readonly startCalls: StartCallMade[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** "Start task (v2)", or "Start extraction". */
  startCall(extractionId: string): Call<string> {
    const note = (taken: boolean, answered: boolean): void =>
      void this.startCalls.push({ extractionId, taken, answered, surelyNot: answered && !taken });
    const take = (): string => {
      note(true, true);
      return this.#take(extractionId);
    };
    const refuse = (error: () => Error) => (): never => {
      note(false, true);
      throw error();
    };
    const lose = (taken: boolean, late: boolean) => (): Late => {
      const error = new ProviderAmbiguous('unanswered');
      note(taken, false);
      if (taken) this.#take(extractionId);
      if (late) return { after: patience, error };
      throw error;
    };
    const answers: Readonly<Record<StartAnswer, () => string | Late>> = {
      taken: take,
      busy: refuse(() => new ProviderBusy('429')),
      unreachable: refuse(() => new ProviderUnreachable('connect')),
      unauthorized: refuse(() => new ProviderUnauthorized('401')),
      refused: refuse(() => new ProviderRefused('400', 400)),
    };
    /** Only the v2 variant of an extraction by consent says why, and by its status whether a task may exist. */
    const saysWhy = (status: number, taken: boolean) => (): never => {
      note(taken, status < 500);
      if (taken) this.#take(extractionId);
      throw new ProviderExtractionFailed(`${status}`, { status, errorType: 'CONSENT' });
    };
    const explained: OtherAnswer<string>[] = [
      { name: '422 that says why', take: saysWhy(422, false) },
      { name: '429 that says why', take: saysWhy(429, false) },
      { name: '500 that says why, taken', take: saysWhy(500, true) },
      { name: '500 that says why, not taken', take: saysWhy(500, false) },
    ];
    const byItself = this.#world.scenario.startAnswers[this.startCalls.length] ?? 'taken';
    const others: OtherAnswer<string>[] = [
      { name: '503, taken', take: lose(true, false) },
      { name: '503, not taken', take: lose(false, false) },
      { name: 'no answer, taken', take: lose(true, true) },
      { name: 'no answer, not taken', take: lose(false, true) },
      ...(this.#world.scenario.method === 'consent-v2' ? explained : []),
      ...(Object.keys(answers) as StartAnswer[])
        .filter((answer) => answer !== byItself)
        .map((name) => ({ name, take: answers[name] })),
    ];
    return { name: 'start call', kind: 'once', take: answers[byItself], others };
  }

  #take(extractionId: string): string {
    const { kernel, scenario } = this.#world;
    const { endsAfter, status, readAs, keptFor, anothers } = scenario.task;
    const taskId = `task-${this.tasks.size + 1}`;
    const endsAt = endsAfter === 'never' ? Number.POSITIVE_INFINITY : kernel.now + endsAfter * 1_000;
    const task: ProviderTask = {
      taskId,
      extractionId: anothers === true ? anotherExtraction : extractionId,
      endsAt,
      status,
      readAs: readAs ?? status,
      forgottenAt: keptFor === undefined ? Number.POSITIVE_INFINITY : endsAt + keptFor * 1_000,
      heard: false,
    };
    this.tasks.set(taskId, task);
    if (anothers === true) this.#world.tasks.set(taskId, { taskId, extractionId: anotherExtraction });
    if (endsAfter !== 'never' && scenario.webhook === 'sent' && hasWebhook(scenario.method)) {
      this.#deliverAt(task, 1, endsAt);
    }
    return taskId;
  }

  /** "Retries on any non-2xx": the next delivery comes unless one was heard to be taken. */
  #deliverAt(task: ProviderTask, attempt: number, at: number): void {
    this.#world.kernel.timers.set(at, `delivery ${attempt} is due`, () => {
      if (task.heard) return;
      if (attempt < deliveries.most) this.#deliverAt(task, attempt + 1, at + deliveries.every * 1_000);
      this.#deliver(task, attempt);
    });
  }

  #deliver(task: ProviderTask, attempt: number): void {
    const { kernel } = this.#world;
    const send = (times: number, heard: boolean) => (): void => {
      const sentAt = kernel.now;
      for (let time = 0; time < times; time += 1) {
        this.#world.receive(task, (acknowledged) => {
          const inTime = kernel.now - sentAt <= deliveries.answerWithin * 1_000;
          if (acknowledged && inTime && heard) task.heard = true;
        });
      }
    };
    void kernel.call<void>(undefined, 'provider', {
      name: `delivery ${attempt}`,
      kind: 'once',
      take: send(1, true),
      others: [
        { name: 'lost', take: () => undefined },
        { name: 'twice', take: send(2, true) },
        { name: 'answer lost', take: send(1, false) },
      ],
    });
  }

  /** Whether every read of the provider fails now. */
  get #isOut(): boolean {
    const { kernel, scenario, begunAt } = this.#world;
    const since = (kernel.now - begunAt) / 1_000;
    return scenario.outage !== undefined && since >= scenario.outage.from && since < scenario.outage.to;
  }

  /** The task, unless the provider does not know it, or no longer. */
  #known(taskId: string): ProviderTask | undefined {
    const task = this.tasks.get(taskId);
    return task !== undefined && this.#world.kernel.now < task.forgottenAt ? task : undefined;
  }

  /** "Read task (v2)". */
  read(taskId: string): Call<ReadAnswer> {
    const take = (): ReadAnswer => {
      const { kernel, scenario } = this.#world;
      if (this.#isOut) throw new ProviderAmbiguous('503');
      const task = this.#known(taskId);
      if (task === undefined) throw new ProviderRefused('404', 404);
      if (kernel.now < task.endsAt) return { kind: 'running', word: 'RUNNING' };
      if (scenario.task.tooLarge === true && !withoutResults.includes(task.readAs)) {
        this.#world.downloadOversized();
        throw new ProviderAnswerTooLarge('too large', 200);
      }
      return { kind: 'ended', status: task.readAs };
    };
    const failing = (error: () => Error) => (): never => {
      throw error();
    };
    return {
      name: 'read',
      kind: 'read',
      take,
      failure: () => new ProviderAmbiguous('503'),
      others: [
        { name: '401', take: failing(() => new ProviderUnauthorized('401')) },
        { name: '404', take: failing(() => new ProviderRefused('404', 404)) },
        { name: '429', take: failing(() => new ProviderBusy('429')) },
        { name: 'an unknown word', take: () => ({ kind: 'running', word: 'PAUSED' }) as const },
      ],
    };
  }

  /** "Poll extraction (v1)", and its v2 variant. */
  poll(taskId: string): Call<PollAnswer> {
    const take = (): PollAnswer => {
      const { kernel, scenario } = this.#world;
      if (this.#isOut) return failed(503);
      const task = this.#known(taskId);
      if (task === undefined) return failed(404);
      if (kernel.now < task.endsAt) return { status: 202, body: '{"taskStatus":"running"}' };
      if (task.readAs === 'FAILED') return failed(422);
      if (scenario.task.tooLarge === true) {
        this.#world.downloadOversized();
        return { status: 200, body: 'x'.repeat(mostBytes + 1) };
      }
      const status = scenario.method === 'consent-v1' ? { taskStatus: 'success' } : {};
      const data = scenario.method === 'consent-v1' ? { results: [] } : { data: [] };
      const body = JSON.stringify(scenario.task.shape === 'no-data' ? status : { ...status, ...data });
      return { status: 200, body: scenario.task.shape === 'byte-order-mark' ? `\uFEFF${body}` : body };
    };
    return {
      name: 'poll',
      kind: 'read',
      take,
      others: aboutThePoll.map((status) => ({
        name: `${status} with an errorType`,
        take: () => failed(status),
      })),
    };
  }

  /** A session token or a Task Token. To make one changes nothing. */
  logIn(): Call<string> {
    return {
      name: 'log in',
      kind: 'read',
      take: () => 'secret-session',
      failure: () => new ProviderUnreachable('connect'),
      others: [
        {
          name: '403',
          take: () => {
            throw new ProviderRefused('403', 403);
          },
        },
        {
          name: '503',
          take: () => {
            throw new ProviderAmbiguous('503');
          },
        },
      ],
    };
  }
}
