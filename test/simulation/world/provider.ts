import type { TerminalStatus } from '#lib/extraction/record.ts';
import type { Consent } from '#lib/provider/consents/get-consent.ts';
import {
  type LegacyRefusal,
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';
import { deliveries, hasResults, type LaggingShape } from '../models/provider.ts';
import type { Call, Late, OtherAnswer } from './call.ts';
import type { Process } from './process.ts';
import type { StartAnswer } from './scenario.ts';
import { settings } from './settings.ts';
import { anotherExtraction } from './the-extraction.ts';
import type { World } from './world.ts';

/** A task at the provider. Times in milliseconds. */
export type ProviderTask = {
  readonly taskId: string;
  /** The extraction that it belongs to, which may not be the one that was started. */
  readonly extractionId: string;
  readonly endsAt: number;
  readonly status: TerminalStatus;
  readonly readAs: TerminalStatus;
  readonly forgottenAt: number;
  /** Whether the provider received a 2xx. */
  delivered: boolean;
};

/** A start call that was made. */
type StartCallMade = {
  /** Whether it created a task. */
  readonly accepted: boolean;
  /** Whether the answer means with certainty that it created none. */
  readonly notAccepted: boolean;
  /** Whether it was answered with a taskId or with a refusal. */
  readonly answered: boolean;
  readonly at: number;
  readonly by: Process | undefined;
};

/** The answer to "Read task (v2)". */
export type ReadAnswer =
  | { readonly kind: 'running'; readonly taskStatus: string }
  | { readonly kind: 'ended'; readonly status: TerminalStatus; readonly lagging: LaggingShape | undefined };

/** The HTTP answer to the poll of an extraction by consent. */
type PollAnswer = { readonly status: number; readonly body: string };

/** HTTP statuses that concern the poll and not the task, for any body. */
const aboutThePoll = [401, 403, 404, 408, 425, 429, 500, 502, 504] as const;

const failed = (status: number): PollAnswer => ({ status, body: JSON.stringify({ errorType: 'ENTITY' }) });

/** The size limit of an answer. */
export const maxBytes = 512;

/** Longer than the first intervals between start attempts. */
const retryAfterSeconds = 12;

const busy = (refusal: LegacyRefusal): ProviderBusy => Object.assign(new ProviderBusy('429'), { refusal });

const busyForATime = (): ProviderBusy =>
  Object.assign(busy('processAlreadyRunning'), {
    retryAfter: { kind: 'delay', seconds: retryAfterSeconds },
  });

const failing = (error: () => Error) => (): never => {
  throw error();
};

const anyConsent: Consent = {
  id: 'consent-1',
  products: [],
  tyc: { actualVersion: 1 },
  entity: { id: 'bank', name: 'Bank', type: 'bank' },
  status: 'ACTIVE',
  validUntil: '2030-01-01T00:00:00.000Z',
};

const patience = settings.providerTimeoutMs / 1_000;
const hasWebhook = (method: string): boolean => method === 'credentials';

/** The provider: accepts start calls, ends tasks, sends webhooks, and answers reads. */
export class Provider {
  readonly tasks = new Map<string, ProviderTask>();
  readonly startCalls: StartCallMade[] = [];
  /** What the last read of a consent showed as the reason of a refusal. */
  consentShown: string | undefined;
  /** Before this time the provider asked for no other start call. */
  busyUntil = 0;
  /** How many reads have ended their process. */
  readsThatEnded = 0;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** "Start task (v2)", or "Start extraction". */
  startCall(extractionId: string): Call<string> {
    const note = (accepted: boolean, answered: boolean): void =>
      void this.startCalls.push({
        accepted,
        answered,
        notAccepted: answered && !accepted,
        at: this.#world.kernel.now,
        by: this.#world.kernel.actor,
      });
    const accept = (): string => {
      note(true, true);
      return this.#createTask(extractionId);
    };
    const refuse = (error: () => Error) => (): never => {
      note(false, true);
      throw error();
    };
    const lose = (accepted: boolean, late: boolean) => (): Late => {
      const error = new ProviderAmbiguous('unanswered');
      note(accepted, false);
      if (accepted) this.#createTask(extractionId);
      if (late) return { after: patience, error };
      throw error;
    };
    const { hasLine } = this.#world;
    const isV2 = this.#world.scenario.method === 'consent-v2';
    /** Only the v2 variant of an extraction by consent returns an errorType. Its status shows whether a task may exist. */
    const withErrorType = (status: number, accepted: boolean) => (): never => {
      note(accepted, status < 500);
      if (accepted) this.#createTask(extractionId);
      throw new ProviderExtractionFailed(`${status}`, { status, errorType: 'CONSENT' });
    };
    const refusedAlone = refuse(() => new ProviderRefused('400', 400));
    const answers: Readonly<Record<StartAnswer, () => string | Late>> = {
      accepted: accept,
      busy: refuse(() => busy('processAlreadyRunning')),
      'busy for a time': refuse(() => {
        this.busyUntil = this.#world.kernel.now + retryAfterSeconds * 1_000;
        return busyForATime();
      }),
      'over quota': refuse(() => busy('notEnoughCredits')),
      unreachable: refuse(() => new ProviderUnreachable('connect')),
      unauthorized: refuse(() => new ProviderUnauthorized('401')),
      refused: isV2 ? withErrorType(422, false) : refusedAlone,
      'over the rate': refuse(() => new ProviderBusy('429')),
    };
    const ofV2: OtherAnswer<string>[] = [
      { name: '400 without errorType', take: refusedAlone },
      { name: '429 with errorType', take: withErrorType(429, false) },
      { name: '500 with errorType, accepted', take: withErrorType(500, true) },
      { name: '500 with errorType, not accepted', take: withErrorType(500, false) },
    ];
    const byDefault = this.#world.scenario.startAnswers[this.startCalls.length] ?? 'accepted';
    const others: OtherAnswer<string>[] = [
      { name: '503, accepted', take: lose(true, false) },
      { name: '503, not accepted', take: lose(false, false) },
      { name: 'no answer, accepted', take: lose(true, true) },
      { name: 'no answer, not accepted', take: lose(false, true) },
      ...(isV2 ? ofV2 : []),
      ...(Object.keys(answers) as StartAnswer[])
        .filter((answer) => answer !== byDefault && (hasLine || answer !== 'over the rate'))
        .map((name) => ({ name, take: answers[name] })),
    ];
    return { name: 'start call', kind: 'once', take: answers[byDefault], others };
  }

  #createTask(extractionId: string): string {
    const { kernel, scenario } = this.#world;
    const { endsAfter, status, readAs, keptFor, ofAnother } = scenario.task;
    const taskId = `task-${this.tasks.size + 1}`;
    const endsAt = endsAfter === 'never' ? Number.POSITIVE_INFINITY : kernel.now + endsAfter * 1_000;
    const task: ProviderTask = {
      taskId,
      extractionId: ofAnother === true ? anotherExtraction : extractionId,
      endsAt,
      status,
      readAs: readAs ?? status,
      forgottenAt: keptFor === undefined ? Number.POSITIVE_INFINITY : endsAt + keptFor * 1_000,
      delivered: false,
    };
    this.tasks.set(taskId, task);
    if (ofAnother === true) this.#world.tasks.set(taskId, { taskId, extractionId: anotherExtraction });
    if (endsAfter !== 'never' && scenario.webhook === 'sent' && hasWebhook(scenario.method)) {
      this.#deliverAt(task, 1, endsAt);
    }
    return taskId;
  }

  /** "Retries on any non-2xx": the next delivery follows unless the provider received a 2xx. */
  #deliverAt(task: ProviderTask, attempt: number, at: number): void {
    this.#world.kernel.timers.set(at, `delivery ${attempt} is due`, () => {
      if (task.delivered) return;
      if (attempt < deliveries.most) this.#deliverAt(task, attempt + 1, at + deliveries.every * 1_000);
      this.#deliver(task, attempt);
    });
  }

  #deliver(task: ProviderTask, attempt: number): void {
    const { kernel } = this.#world;
    const send = (times: number, answerArrives: boolean) => (): void => {
      const sentAt = kernel.now;
      for (let time = 0; time < times; time += 1) {
        this.#world.receive(task, (acknowledged) => {
          const inTime = kernel.now - sentAt <= deliveries.answerWithin * 1_000;
          if (acknowledged && inTime && answerArrives) task.delivered = true;
        });
      }
    };
    void kernel.call<void>('provider', {
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

  /** Whether the outage of the scenario is under way. */
  get #isOut(): boolean {
    const { kernel, scenario, startedAt } = this.#world;
    const since = (kernel.now - startedAt) / 1_000;
    return scenario.outage !== undefined && since >= scenario.outage.from && since < scenario.outage.to;
  }

  /** The task, unless the provider does not know it, or no longer. */
  #known(taskId: string): ProviderTask | undefined {
    const task = this.tasks.get(taskId);
    return task !== undefined && this.#world.kernel.now < task.forgottenAt ? task : undefined;
  }

  /** What a read shows instead of the results, while these lag behind the end of the task. */
  #laggingOf({ endsAt }: ProviderTask): LaggingShape | undefined {
    const { lagging } = this.#world.scenario.task;
    return lagging !== undefined && this.#world.kernel.now < endsAt + lagging.for * 1_000
      ? lagging.shape
      : undefined;
  }

  /** The process that reads runs out of memory, so that the answer never arrives. */
  #endsReader(): Late | undefined {
    const { kernel, scenario } = this.#world;
    const reader = kernel.actor;
    if (this.readsThatEnded >= (scenario.task.endsProcesses ?? 0) || reader === undefined) return undefined;
    this.readsThatEnded += 1;
    kernel.crash(reader);
    return { after: 0, error: new Error('This process has ended.') };
  }

  /** "Read task (v2)". */
  read(taskId: string): Call<ReadAnswer> {
    const take = (): ReadAnswer | Late => {
      const { kernel, scenario } = this.#world;
      if (this.#isOut) throw new ProviderAmbiguous('503');
      const task = this.#known(taskId);
      if (task === undefined) throw new ProviderRefused('404', 404);
      if (kernel.now < task.endsAt) return { kind: 'running', taskStatus: 'RUNNING' };
      const ended = this.#endsReader();
      if (ended !== undefined) return ended;
      if (scenario.task.tooLarge === true && hasResults(task.readAs)) {
        this.#world.downloadOversized();
        throw new ProviderAnswerTooLarge('too large', 200);
      }
      return { kind: 'ended', status: task.readAs, lagging: this.#laggingOf(task) };
    };
    return {
      name: 'read',
      kind: 'read',
      take,
      failure: () => new ProviderAmbiguous('503'),
      others: [
        { name: '401', take: failing(() => new ProviderUnauthorized('401')) },
        { name: '404', take: failing(() => new ProviderRefused('404', 404)) },
        { name: '429 with Retry-After', take: failing(busyForATime) },
        { name: 'an unknown status', take: () => ({ kind: 'running', taskStatus: 'PAUSED' }) as const },
      ],
    };
  }

  /** "Poll extraction (v1)", and its v2 variant. */
  poll(taskId: string): Call<PollAnswer> {
    const take = (): PollAnswer | Late => {
      const { kernel, scenario } = this.#world;
      if (this.#isOut) return failed(503);
      const task = this.#known(taskId);
      if (task === undefined) return failed(404);
      if (kernel.now < task.endsAt) return { status: 202, body: '{"taskStatus":"running"}' };
      if (task.readAs === 'FAILED') return failed(422);
      const ended = this.#endsReader();
      if (ended !== undefined) return ended;
      if (scenario.task.tooLarge === true) {
        this.#world.downloadOversized();
        return { status: 200, body: 'x'.repeat(maxBytes + 1) };
      }
      const status = scenario.method === 'consent-v1' ? { taskStatus: 'success' } : {};
      const lagging = scenario.task.shape === 'no-data' ? 'absent' : this.#laggingOf(task);
      const value = lagging === undefined ? [] : lagging === 'null' ? null : {};
      const data = scenario.method === 'consent-v1' ? { results: value } : { data: value };
      const body = JSON.stringify(lagging === 'absent' ? status : { ...status, ...data });
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

  /** "Get consent". The user may have changed it since the request. */
  consent(): Call<Consent> {
    const consent =
      (status: string, subStatus: string, shown?: string): (() => Consent) =>
      () => {
        this.consentShown = shown;
        return { ...anyConsent, status, subStatus };
      };
    return {
      name: 'get consent',
      kind: 'read',
      take: consent('ACTIVE', 'ACTIVE'),
      failure: () => new ProviderAmbiguous('503'),
      others: [
        { name: 'ended', take: consent('INACTIVE', 'REVOKED', 'consent-revoked') },
        { name: 'ended', take: consent('INACTIVE', 'EXPIRED', 'consent-expired') },
        {
          name: 'unknown',
          take: () => {
            this.consentShown = 'consent-unknown';
            throw new ProviderRefused('404', 404);
          },
        },
      ],
    };
  }

  /** Creates a session token or a Task Token, which has no effect on tasks. */
  logIn(): Call<string> {
    return {
      name: 'log in',
      kind: 'read',
      take: () => 'secret-session',
      failure: () => new ProviderUnreachable('connect'),
      others: [
        { name: '403', take: failing(() => new ProviderRefused('403', 403)) },
        { name: '503', take: failing(() => new ProviderAmbiguous('503')) },
      ],
    };
  }
}
