import type { Authorization, ConsentChanges, ConsentInput } from './control/consent-control.ts';
import type { TokensToExpire, TokenView } from './control/token-control.ts';
import type { ClientView, ConsentView, PolledTaskView, Summary, TaskView } from './control/views.ts';
import type { Call, SandboxEvent } from './event-log.ts';
import type {
  CallBehaviour,
  ClientSettings,
  DeliveryShape,
  Fault,
  Plan,
  Restrictions,
  WebhookSettings,
} from './plan-schemas.ts';
import type { TerminalStatus } from './task-vocabulary.ts';

/** A control call was refused, with the sandbox's message. `status` 0: the sandbox did not answer. */
export class SandboxControlError extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxControlError';
    this.status = status;
  }
}

/** `waitFor` ended without the event. */
export class SandboxEventMissing extends Error {
  override readonly name = 'SandboxEventMissing';
}

type CallFilter = Partial<Record<'username' | 'taskId' | 'consentId' | 'path' | 'method', string>>;
type TaskFilter = { readonly username?: string };

type DeliveryInput = DeliveryShape & {
  readonly taskId: string;
  readonly taskStatus: string;
  readonly clientId?: string;
};

/** The receiver's answer (`status`, `body` as text), or `error` if there was none. */
type ReceiverAnswer = { readonly status?: number; readonly body?: string; readonly error?: string };

type WaitOptions = {
  /** Only events after this `seq`. Default 0: past events count. */
  readonly since?: number;
  /** Default 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

type EventOf<Type extends SandboxEvent['type']> = Extract<SandboxEvent, { readonly type: Type }>;

export type SandboxControl = ReturnType<typeof sandboxControl>;

/** A typed client of the sandbox's control interface (docs/sandbox.md). `baseUrl` is the sandbox's. */
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

  /** Every event after `since`, future ones included, until the signal aborts. */
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

  /** Waits for the first event that fits, past ones included. @throws SandboxEventMissing */
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
      throw new SandboxEventMissing(`No such event within ${timeoutMs} ms`, { cause });
    } finally {
      found.abort();
    }
    throw new SandboxEventMissing('The sandbox closed before the event');
  };

  return {
    controlUrl,
    summary: () => call<Summary>('GET', ''),
    /** Adds a client, or replaces it. */
    setClient: (clientId: string, settings: ClientSettings) =>
      call<ClientView>('PUT', `/clients/${encodeURIComponent(clientId)}`, settings),
    setWebhook: (clientId: string, settings: WebhookSettings) =>
      call<ClientView>('PUT', `/clients/${encodeURIComponent(clientId)}/webhook`, settings),
    setLogin: (clientId: string, behaviours: readonly CallBehaviour[]) =>
      call<unknown>('PUT', `/clients/${encodeURIComponent(clientId)}/login`, { behaviours }),
    /** Replaces the client's restrictions. `{}` lifts them. */
    setRestrictions: (clientId: string, restrictions: Restrictions) =>
      call<ClientView>('PUT', `/clients/${encodeURIComponent(clientId)}/restrictions`, restrictions),
    setPlan: (username: string, plan: Plan) =>
      call<unknown>('PUT', `/plans/${encodeURIComponent(username)}`, plan),
    calls: (filter: CallFilter = {}) => call<Call[]>('GET', `/calls?${new URLSearchParams({ ...filter })}`),
    tasks: (filter: TaskFilter = {}) =>
      call<TaskView[]>('GET', `/tasks?${new URLSearchParams({ ...filter })}`),
    task: (taskId: string) => call<TaskView>('GET', `/tasks/${encodeURIComponent(taskId)}`),
    finish: (taskId: string, taskStatus?: TerminalStatus) =>
      call<TaskView>('POST', `/tasks/${encodeURIComponent(taskId)}/finish`, { taskStatus }),
    /** Sends one more delivery of a task, and returns the receiver's answer. */
    deliverTask: (taskId: string, shape: DeliveryShape = {}) =>
      call<ReceiverAnswer>('POST', `/tasks/${encodeURIComponent(taskId)}/deliver`, shape),
    /** Sends a delivery for any taskId, also an unknown one. */
    deliver: (input: DeliveryInput) => call<ReceiverAnswer>('POST', '/deliver', input),
    polledTasks: (filter: TaskFilter = {}) =>
      call<PolledTaskView[]>('GET', `/polled-tasks?${new URLSearchParams({ ...filter })}`),
    finishPolled: (taskId: string) =>
      call<PolledTaskView>('POST', `/polled-tasks/${encodeURIComponent(taskId)}/finish`),
    /** Creates an authorized consent without OTP token and consent page. `subStatus` sets another state. */
    createConsent: (input: ConsentInput) => call<ConsentView>('POST', '/consents', input),
    consents: (filter: { readonly owner?: string } = {}) =>
      call<ConsentView[]>('GET', `/consents?${new URLSearchParams({ ...filter })}`),
    consent: (consentId: string) => call<ConsentView>('GET', `/consents/${encodeURIComponent(consentId)}`),
    /** Authorizes a consent as the consent page does. */
    authorizeConsent: (consentId: string, authorization: Authorization = {}) =>
      call<ConsentView>('POST', `/consents/${encodeURIComponent(consentId)}/authorize`, authorization),
    alterConsent: (consentId: string, changes: ConsentChanges) =>
      call<ConsentView>('PATCH', `/consents/${encodeURIComponent(consentId)}`, changes),
    tokens: () => call<TokenView[]>('GET', '/tokens'),
    expireTokens: (which: TokensToExpire = {}) => call<{ expired: number }>('POST', '/tokens/expire', which),
    /** Replaces all faults. */
    setFaults: (faults: readonly Fault[]) => call<unknown>('PUT', '/faults', { faults }),
    advanceClock: (seconds: number) => call<{ now: string }>('POST', '/clock/advance', { seconds }),
    /** Refuses all connections for so long, connections of this client included. Deliveries go on. */
    goDown: (seconds: number) => call<unknown>('POST', '/down', { seconds }),
    reset: () => call<unknown>('POST', '/reset'),
    events,
    waitFor,

    /** `waitFor` for one type of event, with its type. */
    async waitForEvent<Type extends SandboxEvent['type']>(
      type: Type,
      fits: (event: EventOf<Type>) => boolean,
      options?: WaitOptions,
    ): Promise<EventOf<Type>> {
      const hasType = (event: SandboxEvent): event is EventOf<Type> => event.type === type;
      return (await waitFor((event) => hasType(event) && fits(event), options)) as EventOf<Type>;
    },
  };
};

const eventIn = (block: string): SandboxEvent => {
  const data = block.split('\n').find((line) => line.startsWith('data: ')) ?? 'data: null';
  return JSON.parse(data.slice('data: '.length)) as SandboxEvent;
};
