import { createHash } from 'node:crypto';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { ApiError, type ExtractionRequest, extractionsClient } from '../../lib/client/index.ts';
import { eventText } from '../../sandbox/describe-event.ts';
import { describeStreamRecord } from '../cli/aws/describe-stream-record.ts';
import { openStream } from '../cli/aws/follow-stream.ts';
import { CliError } from '../cli/terminal/errors.ts';
import { printable } from '../cli/terminal/printable.ts';
import type { LocalSystem } from './local-system.ts';
import type { RunOutput } from './run-output.ts';
import { outcomeRequest, person } from './sandbox-actions.ts';

/** A method takes about 6 s, and less than 30 s if the webhook is lost and the machine polls. */
const deadlineMs = 60_000;

/**
 * Prints the records of the stream and the events of the provider until `shown` aborts. Returns a promise that rejects if the
 * emulator no longer answers before `signal` aborts, and never resolves.
 */
export const watchSystem = async (
  { emulator, outputs, provider }: LocalSystem,
  show: RunOutput,
  signal: AbortSignal,
  shown: AbortSignal,
): Promise<{ readonly failed: Promise<never> }> => {
  const streams = new DynamoDBStreamsClient(emulator.client);
  const records = await openStream(streams, outputs.ExtractionsStreamArn ?? '', signal);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const readStream = async (): Promise<void> => {
    for await (const record of records) {
      if (!shown.aborted) show.note('stream', describeStreamRecord(record));
    }
  };
  readStream().catch((cause: unknown) => {
    if (signal.aborted) return;
    const log = emulator.logFile === undefined ? '' : ` (its log: ${emulator.logFile})`;
    reject(new CliError(`The emulator no longer answers${log}. Start again.`, { cause }));
  });
  const readProvider = async (): Promise<void> => {
    for await (const event of provider.events(0, shown)) {
      const text = eventText(event);
      if (text !== undefined) show.note('provider', printable(text));
    }
  };
  // It is this process that plays the provider.
  readProvider().catch(() => {});
  return { failed };
};

type Demo = { readonly system: LocalSystem; readonly show: RunOutput; readonly signal: AbortSignal };

const callForPerson = async <Answer>({ system: { api }, signal }: Demo, path: string, body: object = {}) => {
  const headers = { 'content-type': 'application/json', 'cosecha-target': person };
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const answer = await api.fetch(`${api.base}${path}`, request);
  const text = await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, text);
  return JSON.parse(text) as Answer;
};

const extract = async ({ system: { api }, show, signal }: Demo, request: ExtractionRequest) => {
  const client = extractionsClient({ apiUrl: api.base, fetch: api.fetch });
  const requested = await client.requestExtraction(request, { signal });
  const { extractionId, status } = requested.extraction;
  show.done('request', `POST /extractions → 202  ${status}  ${extractionId}`);
  show.wait('extraction', 'waiting for its outcome');
  const ended = await client.waitForOutcome(extractionId, { signal });
  show.rest();
  const reason = ended.reason === undefined ? '' : `   reason: ${ended.reason}`;
  show.done('extraction', `${ended.status}${reason}   settledBy: ${ended.settledBy}`);
  return ended;
};

/** Requests an extraction, and downloads its results as a caller would. Throws unless they are as recorded. */
const extractAndDownload = async (demo: Demo, request: ExtractionRequest): Promise<void> => {
  const { status, results } = await extract(demo, request);
  if (results === undefined) throw new CliError(`The extraction ended ${status} without results.`);
  const response = await fetch(results.url, { signal: demo.signal });
  const body = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (!response.ok || sha256 !== results.sha256 || body.length !== results.bytes) {
    throw new CliError(
      `The presigned URL answered ${response.status} with ${body.length} bytes, not the ${results.bytes} recorded.`,
    );
  }
  demo.show.done('results', `${body.length} bytes through the presigned URL, SHA-256 as recorded`);
};

/** Opens a session, authorizes it as the person would in the widget, extracts, and revokes: the next one is rejected. */
const extractByConsent = async (demo: Demo): Promise<void> => {
  const product = 'movement';
  const session = { products: [product, 'product-balance'], locale: 'en' };
  const { consentId } = await callForPerson<{ consentId: string }>(demo, '/consent-sessions', session);
  await demo.system.provider.authorizeConsent(consentId);
  demo.show.done('consent', `${consentId}, authorized as the person would do in the widget`);
  const request = { method: 'consent', product, consentId, target: person } as const;
  await extractAndDownload(demo, { ...request, reference: 'by-consent' });
  await callForPerson(demo, `/consents/${consentId}/revoke`);
  const { status } = await extract(demo, { ...request, reference: 'after-revoke' });
  if (status !== 'REJECTED') {
    throw new CliError(`The extraction of a revoked consent ended ${status}, not REJECTED.`);
  }
  demo.show.done('consent', 'revoked, and the next extraction was REJECTED, as expected');
};

const demos: Readonly<Record<string, (demo: Demo) => Promise<void>>> = {
  credentials: (demo) =>
    extractAndDownload(demo, { ...outcomeRequest('completed-both'), reference: 'first-extraction' }),
  consent: extractByConsent,
};

/** Shows each method, one after the other. Throws CliError if one ends otherwise than expected, or takes too long. */
export const runDemo = async (system: LocalSystem, show: RunOutput, stop: AbortSignal): Promise<void> => {
  for (const [method, run] of Object.entries(demos)) {
    const deadline = AbortSignal.timeout(deadlineMs);
    show.note('demo', `an extraction by ${method}`);
    try {
      await run({ system, show, signal: AbortSignal.any([stop, deadline]) });
    } catch (cause) {
      if (cause instanceof ApiError) throw new CliError(cause.message, { cause });
      if (!deadline.aborted || stop.aborted) throw cause;
      const message = `The demo of the method ${method} took more than ${deadlineMs / 1_000} s.`;
      throw new CliError(message, { cause });
    }
  }
};
