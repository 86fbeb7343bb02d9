import type { ClientSettings } from './control/client-control.ts';
import type { Authorization, ConsentChanges, ConsentOrder } from './control/consent-control.ts';
import type { ReceiverAnswer } from './control/task-control.ts';
import type { TokensToExpire, TokenView } from './control/token-control.ts';
import type { ClientView, ConsentView, PolledTaskView, Summary, TaskView } from './control/views.ts';
import type { SandboxEvent } from './events.ts';
import type { CallBehaviour, DeliveryShape, Fault, Plan, Restrictions, WebhookSettings } from './plan.ts';
import type { Call } from './state.ts';
import type { TerminalStatus } from './task-vocabulary.ts';

/** A control call that was refused, with the sandbox's sentence; or the sandbox was not there (`status` 0). */
export class SandboxControlError extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxControlError';
    this.status = status;
  }
}

/** `waitFor` ended before the event came. */
export class SandboxEventMissing extends Error {
  override readonly name = 'SandboxEventMissing';
}

export type CallFilter = {
  readonly username?: string;
  readonly taskId?: string;
  readonly consentId?: string;
  readonly path?: string;
  readonly method?: string;
};

export type WaitOptions = {
  /** Only events after this `seq`; default 0, so that what has happened already counts. */
  readonly since?: number;
  /** Default 10 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

type EventOf<Type extends SandboxEvent['type']> = Extract<SandboxEvent, { readonly type: Type }>;

export type SandboxControl = ReturnType<typeof sandboxControl>;

/** The control interface of docs/sandbox.md, typed. `baseUrl` is that of the sandbox. */
export const sandboxControl = (baseUrl: string) => {
  const controlUrl = `${baseUrl}/_sandbox`;

  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${controlUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new SandboxControlError(0, `The sandbox at ${baseUrl} does not answer`, { cause });
    });
    const answer = (await response.json()) as Answer & { message?: string };
    if (!response.ok) throw new SandboxControlError(response.status, answer.message ?? 'Refused');
    return answer;
  };

  /** Every event after `since`, those to come included, until the signal aborts. */
  async function* events(since: number, signal: AbortSignal): AsyncGenerator<SandboxEvent> {
    const response = await fetch(`${controlUrl}/events?since=${since}`, { signal });
    if (response.body === null) return;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks.filter((one) => one.includes('data: '))) yield eventIn(block);
    }
  }

  /** The first event that fits, past or to come. @throws SandboxEventMissing */
  const waitFor = async (
    fits: (event: SandboxEvent) => boolean,
    { since = 0, timeoutMs = 60_000, signal }: WaitOptions = {},
  ): Promise<SandboxEvent> => {
    const found = new AbortController();
    const ends = [found.signal, AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
    try {
      for await (const event of events(since, AbortSignal.any(ends))) {
        if (fits(event)) return event;
      }
    } catch (cause) {
      throw new SandboxEventMissing(`The event did not come within ${timeoutMs} ms`, { cause });
    } finally {
      found.abort();
    }
    throw new SandboxEventMissing('The sandbox closed before the event came');
  };

  return {
    summary: () => call<Summary>('GET', ''),
    /** Adds a client, or replaces it. */
    setClient: (clientId: string, settings: ClientSettings) =>
      call<ClientView>('PUT', `/clients/${encodeURIComponent(clientId)}`, settings),
    setWebhook: (clientId: string, settings: WebhookSettings) =>
      call<ClientView>('PUT', `/clients/${encodeURIComponent(clientId)}/webhook`, settings),
    setLogin: (clientId: string, behaviours: readonly CallBehaviour[]) =>
      call<unknown>('PUT', `/clients/${encodeURIComponent(clientId)}/login`, { behaviours }),
    /** What the client may not do; `{}` lifts every restriction. */
    setRestrictions: (clientId: string, restrictions: Restrictions) =>
      call<ClientView>('PUT', `/clients/${encodeURIComponent(clientId)}/restrictions`, restrictions),
    setPlan: (username: string, plan: Plan) =>
      call<unknown>('PUT', `/plans/${encodeURIComponent(username)}`, plan),
    calls: (filter: CallFilter = {}) => call<Call[]>('GET', `/calls?${new URLSearchParams({ ...filter })}`),
    tasks: (filter: { readonly username?: string } = {}) =>
      call<TaskView[]>('GET', `/tasks?${new URLSearchParams({ ...filter })}`),
    task: (taskId: string) => call<TaskView>('GET', `/tasks/${encodeURIComponent(taskId)}`),
    finish: (taskId: string, taskStatus?: TerminalStatus) =>
      call<TaskView>(
        'POST',
        `/tasks/${encodeURIComponent(taskId)}/finish`,
        taskStatus === undefined ? {} : { taskStatus },
      ),
    /** Makes one more delivery of a task, and says what the receiver answered. */
    deliverTask: (taskId: string, shape: DeliveryShape = {}) =>
      call<ReceiverAnswer>('POST', `/tasks/${encodeURIComponent(taskId)}/deliver`, shape),
    /** Makes a delivery for any taskId, also one that there is not (yet). */
    deliver: (
      order: DeliveryShape & {
        readonly taskId: string;
        readonly taskStatus: string;
        readonly clientId?: string;
      },
    ) => call<ReceiverAnswer>('POST', '/deliver', order),
    polledTasks: (filter: { readonly username?: string } = {}) =>
      call<PolledTaskView[]>('GET', `/polled-tasks?${new URLSearchParams({ ...filter })}`),
    finishPolled: (taskId: string) =>
      call<PolledTaskView>('POST', `/polled-tasks/${encodeURIComponent(taskId)}/finish`),
    /** Makes an authorized consent without OTP token and consent page; `subStatus` makes it another. */
    createConsent: (order: ConsentOrder) => call<ConsentView>('POST', '/consents', order),
    consents: (filter: { readonly owner?: string } = {}) =>
      call<ConsentView[]>('GET', `/consents?${new URLSearchParams({ ...filter })}`),
    consent: (consentId: string) => call<ConsentView>('GET', `/consents/${encodeURIComponent(consentId)}`),
    /** What the consent page does when the user authorizes. */
    authorizeConsent: (consentId: string, authorization: Authorization = {}) =>
      call<ConsentView>('POST', `/consents/${encodeURIComponent(consentId)}/authorize`, authorization),
    alterConsent: (consentId: string, changes: ConsentChanges) =>
      call<ConsentView>('PATCH', `/consents/${encodeURIComponent(consentId)}`, changes),
    tokens: () => call<TokenView[]>('GET', '/tokens'),
    expireTokens: (which: TokensToExpire = {}) => call<{ expired: number }>('POST', '/tokens/expire', which),
    /** Replaces all faults. */
    setFaults: (faults: readonly Fault[]) => call<unknown>('PUT', '/faults', { faults }),
    advanceClock: (seconds: number) => call<{ now: string }>('POST', '/clock/advance', { seconds }),
    /** Nobody gets a connection for so long, this client included; deliveries go on. */
    goDown: (seconds: number) => call<unknown>('POST', '/down', { seconds }),
    reset: () => call<unknown>('POST', '/reset'),
    events,
    waitFor,

    /** Likewise, for one type of event and typed as that. */
    async waitForEvent<Type extends SandboxEvent['type']>(
      type: Type,
      fits: (event: EventOf<Type>) => boolean,
      options?: WaitOptions,
    ): Promise<EventOf<Type>> {
      const isIt = (event: SandboxEvent): event is EventOf<Type> => event.type === type;
      return (await waitFor((event) => isIt(event) && fits(event), options)) as EventOf<Type>;
    },
  };
};

const eventIn = (block: string): SandboxEvent => {
  const data = block.split('\n').find((line) => line.startsWith('data: ')) ?? 'data: null';
  return JSON.parse(data.slice('data: '.length)) as SandboxEvent;
};
