import { createHash } from 'node:crypto';
import { on } from 'node:events';
import type { StreamRecord } from '../../cli/aws/follow-stream.ts';
import { ExtractionFailed } from '../expected-failure.ts';
import type { LocalSystem } from '../local-system.ts';
import { describeSystemEvent } from './describe-system-event.ts';
import { isEnd, isTransition } from './follow-execution.ts';
import type { RunOutput } from './run-output.ts';
import { showRecord, showValue } from './show-value.ts';
import { summarizeResults } from './summarize-results.ts';
import type { SystemEvent, Watch } from './watch-system.ts';

/** What a demo needs. `signal` aborts it. */
export type DemoContext = {
  readonly system: LocalSystem;
  readonly watch: Watch;
  readonly show: RunOutput;
  readonly signal: AbortSignal;
};

/** The fields of the API's answer that the demo reads (docs/api.md). */
export type View = {
  readonly extractionId: string;
  readonly status: string;
  readonly reason?: string;
  readonly settledBy?: string;
  readonly collectedAt?: string;
  readonly collectionError?: string;
  readonly results?: { readonly url: string; readonly bytes: number; readonly sha256: string };
};

/**
 * Requests an extraction and shows its events until it is closed.
 *
 * @returns the extraction as the API then returns it
 * @throws ExtractionFailed if the API does not accept the request
 */
export const showExtraction = async (context: DemoContext, request: unknown): Promise<View> => {
  const { system, watch, show, signal } = context;
  // Before the request, so that the loop below gets its first events too.
  const events = on(watch, 'event', { signal }) as AsyncIterableIterator<[SystemEvent]>;
  const extractionId = await requestExtraction(context, request);
  show.wait('extraction', 'waiting until it is closed');
  const transitions = await showUntilClosed(extractionId, events, show);
  const view = await read(system, extractionId, signal);
  const { results: _results, ...record } = view;
  show.done('record', `GET /extractions/${extractionId} → 200`);
  show.block(showValue(record));
  show.rest();
  const reason = view.reason === undefined ? '' : `   reason: ${view.reason}`;
  show.done(
    'extraction',
    `${view.status}${reason}   settledBy: ${view.settledBy}   state transitions: ${transitions}`,
  );
  return view;
};

const requestExtraction = async (
  { system: { api }, show, signal }: DemoContext,
  request: unknown,
): Promise<string> => {
  const response = await api.fetch(`${api.base}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    signal,
  });
  const body = await response.text();
  if (response.status !== 202) {
    throw new ExtractionFailed(
      `The API answered ${response.status} to POST /extractions: ${body.slice(0, 500)}`,
    );
  }
  const view = JSON.parse(body) as View;
  show.done('request', `POST /extractions → 202  ${view.status}  ${view.extractionId}`);
  return view.extractionId;
};

/** Shows events until the record is closed and the execution has ended. Returns the number of state transitions. */
const showUntilClosed = async (
  extractionId: string,
  events: AsyncIterable<[SystemEvent]>,
  show: RunOutput,
): Promise<number> => {
  let transitions = 0;
  let ended = false;
  let closed = false;
  for await (const [event] of events) {
    const description = describeSystemEvent(event);
    if (description) show.note(description.subject, description.text);
    if (event.source === 'provider' || event.extractionId !== extractionId) continue;
    if (event.source === 'stream') {
      // The stream record with the outcome, which consumers act on (docs/stream.md).
      if (isSettling(event.record)) show.block(showRecord(event.record));
      closed ||= isClosed(event.record);
    } else {
      if (isTransition(event.event)) transitions += 1;
      ended ||= isEnd(event.event);
    }
    if (ended && closed) return transitions;
  }
  throw new ExtractionFailed('The events ended before the extraction was closed.');
};

const isSettling = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage?.settledAt !== undefined && dynamodb.OldImage?.settledAt === undefined;

/** A closed record is not in the sparse index `due`. */
const isClosed = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage !== undefined && dynamodb.NewImage.dueShard === undefined;

const read = async ({ api }: LocalSystem, extractionId: string, signal: AbortSignal): Promise<View> => {
  const response = await api.fetch(`${api.base}/extractions/${extractionId}`, { signal });
  if (response.ok) return (await response.json()) as View;
  throw new ExtractionFailed(`The API answered ${response.status} to GET /extractions/${extractionId}.`);
};

/** Downloads the results as a caller would. @throws ExtractionFailed if there are none, or others than recorded */
export const showResults = async (view: View, { show, signal }: DemoContext): Promise<void> => {
  const { results } = view;
  if (view.collectedAt === undefined || results === undefined) {
    const why = view.collectionError ?? view.reason;
    throw new ExtractionFailed(
      `The extraction ended ${view.status} without results${why ? `: ${why}` : ''}.`,
    );
  }
  const response = await fetch(results.url, { signal });
  const body = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (!response.ok || sha256 !== results.sha256 || body.length !== results.bytes) {
    throw new ExtractionFailed(
      `The presigned URL answered ${response.status} with ${body.length} bytes, not the ${results.bytes} recorded.`,
    );
  }
  show.done('results', `${body.length} bytes through the presigned URL, SHA-256 as recorded`);
  show.block(summarizeResults(body.toString('utf8')));
};
