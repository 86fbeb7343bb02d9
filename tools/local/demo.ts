import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { SandboxEvent } from '../../test/sandbox/events.ts';
import type { Call, Delivery } from '../../test/sandbox/state.ts';
import { describeStreamRecord } from '../cli/aws/describe-stream-record.ts';
import { openStream } from '../cli/aws/follow-stream.ts';
import { printable } from '../cli/terminal/printable.ts';
import { EmulatorFailed, ExtractionFailed } from './expected-failure.ts';
import type { LocalSystem } from './local-system.ts';
import type { Method } from './read-options.ts';
import type { RunOutput } from './run-output.ts';

/** Test data with a valid check digit. */
const person = '11111111-1';

/** A method takes about 6 s, and less than 30 s if the webhook is lost and the machine polls. */
const deadlineMs = 60_000;

/** Its outcome in the sandbox is `COMPLETED`. */
const demoRequest = {
  entity: 'demo-bank',
  credentials: {
    mode: 'raw',
    value: { businessId: '77777777-7', username: 'completed-both', password: 'any-will-do' },
  },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  reference: 'first-extraction',
};

const describeCall = ({ method, path, status, username, credentialsMode }: Call): string => {
  // The username of a start call. In other calls it may be a national id.
  const user = username === undefined || credentialsMode === undefined ? '' : `  user ${printable(username)}`;
  return `${method} ${path} → ${status}${user}`;
};

const describeDelivery = ({ attempt, taskStatus, mode, signatureValid, status, error }: Delivery): string => {
  const what = `delivery ${attempt}: ${taskStatus}`;
  // Without a mode it was not sent: a plan dropped it, or the client has no URL.
  if (mode === undefined) return `${what}, not sent (${error})`;
  const signature = signatureValid ? 'signed with HMAC-SHA256' : 'not validly signed';
  return `${what}, ${mode}, ${signature} → ${status ?? error}`;
};

/** The subject and the text of a line, without secrets. Undefined for an event that adds nothing to other lines. */
export const describeProviderEvent = (event: SandboxEvent): readonly [string, string] | undefined => {
  switch (event.type) {
    case 'call':
      return ['provider', describeCall(event.call)];
    case 'task-finished':
      return ['provider', `task ${event.taskId} ended ${event.taskStatus}`];
    case 'delivery':
      return ['webhook', describeDelivery(event.delivery)];
    default:
      return undefined;
  }
};

export type Watch = {
  /** Resolves once the record of this extraction is closed. */
  readonly untilClosed: (extractionId: string, signal: AbortSignal) => Promise<void>;
  /** Rejects if the emulator no longer answers, and never resolves. */
  readonly failed: Promise<never>;
};

/** Reads the stream until `signal` aborts, and prints its records and the events of the provider until `shown` aborts. */
export const watchSystem = async (
  { emulator, outputs, provider }: LocalSystem,
  show: RunOutput,
  signal: AbortSignal,
  shown: AbortSignal,
): Promise<Watch> => {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const fail = (cause: unknown): void => {
    if (signal.aborted) return;
    const log = emulator.logFile === undefined ? '' : ` (its log: ${emulator.logFile})`;
    reject(new EmulatorFailed(`The emulator no longer answers${log}. Start again.`, { cause }));
  };
  const closed = new Set<string | undefined>();
  const closes = new EventEmitter();
  const streams = new DynamoDBStreamsClient(emulator.client);
  const records = await openStream(streams, outputs.ExtractionsStreamArn ?? '', signal);
  const readStream = async (): Promise<void> => {
    for await (const record of records) {
      if (!shown.aborted) show.note('stream', describeStreamRecord(record));
      const { Keys, NewImage } = record.dynamodb ?? {};
      // A closed record is not in the sparse index `due`.
      if (NewImage === undefined || NewImage.dueShard !== undefined) continue;
      closed.add(Keys?.extractionId?.S);
      closes.emit('close');
    }
  };
  const readProvider = async (): Promise<void> => {
    for await (const event of provider.events(0, shown)) {
      const line = describeProviderEvent(event);
      if (line !== undefined) show.note(...line);
    }
  };
  readStream().catch(fail);
  // It is this process that plays the provider.
  readProvider().catch(() => {});
  const untilClosed = async (extractionId: string, until: AbortSignal): Promise<void> => {
    while (!closed.has(extractionId)) await once(closes, 'close', { signal: until });
  };
  return { untilClosed, failed };
};

type DemoContext = {
  readonly system: LocalSystem;
  readonly watch: Watch;
  readonly show: RunOutput;
  readonly signal: AbortSignal;
};

/** The fields of the API's answer that the demo reads (docs/api.md). */
type View = {
  readonly extractionId: string;
  readonly status: string;
  readonly reason?: string;
  readonly settledBy?: string;
  readonly results?: { readonly url: string; readonly bytes: number; readonly sha256: string };
};

/** A call of the API, for the person. Throws ExtractionFailed if it is answered otherwise than expected. */
const call = async <Answer>(
  { system: { api }, signal }: DemoContext,
  route: string,
  expected: number,
  body?: unknown,
): Promise<Answer> => {
  const [method = '', path = ''] = route.split(' ');
  const response = await api.fetch(`${api.base}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'cosecha-target': person },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  });
  const text = await response.text();
  if (response.status === expected) return JSON.parse(text) as Answer;
  throw new ExtractionFailed(`The API answered ${response.status} to ${route}: ${text.slice(0, 500)}`);
};

/** Requests an extraction, waits until it is closed, and returns it as the API then does. */
const extract = async (context: DemoContext, request: unknown): Promise<View> => {
  const { watch, show, signal } = context;
  const { status, extractionId } = await call<View>(context, 'POST /extractions', 202, request);
  show.done('request', `POST /extractions → 202  ${status}  ${extractionId}`);
  show.wait('extraction', 'waiting until it is closed');
  await watch.untilClosed(extractionId, signal);
  const view = await call<View>(context, `GET /extractions/${extractionId}`, 200);
  show.rest();
  const reason = view.reason === undefined ? '' : `   reason: ${view.reason}`;
  show.done('extraction', `${view.status}${reason}   settledBy: ${view.settledBy}`);
  return view;
};

/** Downloads the results as a caller would. Throws ExtractionFailed if there are none, or others than recorded. */
const download = async ({ status, results }: View, { show, signal }: DemoContext): Promise<void> => {
  if (results === undefined) throw new ExtractionFailed(`The extraction ended ${status} without results.`);
  const response = await fetch(results.url, { signal });
  const body = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (!response.ok || sha256 !== results.sha256 || body.length !== results.bytes) {
    throw new ExtractionFailed(
      `The presigned URL answered ${response.status} with ${body.length} bytes, not the ${results.bytes} recorded.`,
    );
  }
  show.done('results', `${body.length} bytes through the presigned URL, SHA-256 as recorded`);
};

/** Opens a session, authorizes it as the person would in the widget, extracts, and revokes: the next one is rejected. */
const extractByConsent = async (context: DemoContext): Promise<void> => {
  const { system, show } = context;
  const product = 'movement';
  const session = { products: [product, 'product-balance'], locale: 'en' };
  const { consentId } = await call<{ consentId: string }>(context, 'POST /consent-sessions', 201, session);
  await system.provider.authorizeConsent(consentId);
  show.done('consent', `${consentId}, authorized as the person would do in the widget`);
  const request = { method: 'consent', product, consentId, target: person };
  await download(await extract(context, { ...request, reference: 'by-consent' }), context);
  await call(context, `POST /consents/${consentId}/revoke`, 200);
  const { status } = await extract(context, { ...request, reference: 'after-revoke' });
  if (status !== 'REJECTED') {
    throw new ExtractionFailed(`The extraction of a revoked consent ended ${status}, not REJECTED.`);
  }
  show.done('consent', 'revoked, and the next extraction was REJECTED, as expected');
};

const demos: Readonly<Record<Method, (context: DemoContext) => Promise<void>>> = {
  credentials: async (context) => download(await extract(context, demoRequest), context),
  consent: extractByConsent,
};

/** Shows each method, one after the other. Throws ExtractionFailed if one ends otherwise than expected, or takes too long. */
export const runDemo = async (
  context: Omit<DemoContext, 'signal'>,
  methods: readonly Method[],
  stop: AbortSignal,
): Promise<void> => {
  for (const method of methods) {
    const deadline = AbortSignal.timeout(deadlineMs);
    context.show.note('demo', `an extraction by ${method}`);
    try {
      await demos[method]({ ...context, signal: AbortSignal.any([stop, deadline]) });
    } catch (cause) {
      if (!deadline.aborted || stop.aborted) throw cause;
      const message = `The demo of the method ${method} took more than ${deadlineMs / 1_000} s.`;
      throw new ExtractionFailed(message, { cause });
    }
  }
};
