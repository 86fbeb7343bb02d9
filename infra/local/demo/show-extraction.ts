import { createHash } from 'node:crypto';
import { on } from 'node:events';
import type { StreamRecord } from '../../../lib/cli/aws/follow-stream.ts';
import { ExtractionFailed } from '../expected-failure.ts';
import type { LocalSystem } from '../local-system.ts';
import { describeSystemEvent } from './describe-system-event.ts';
import { isEnd, isTransition } from './follow-execution.ts';
import type { RunOutput } from './run-output.ts';
import { showRecord, showValue } from './show-value.ts';
import { summarizeResults } from './summarize-results.ts';
import type { SystemEvent, Watch } from './watch-system.ts';

/** Where a demonstration plays, and how long. */
export type DemoContext = {
  readonly system: LocalSystem;
  readonly watch: Watch;
  readonly show: RunOutput;
  readonly signal: AbortSignal;
};

/** What the API says of an extraction, as far as the demonstration reads it (docs/api.md). */
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
 * Starts one extraction and shows it live until it is closed.
 *
 * @returns what the API says of it then
 * @throws ExtractionFailed where it was not taken on
 */
export const showExtraction = async (context: DemoContext, order: unknown): Promise<View> => {
  const { system, watch, show, signal } = context;
  // Before the request, so that its first events are kept for the loop below.
  const events = on(watch, 'event', { signal }) as AsyncIterableIterator<[SystemEvent]>;
  const extractionId = await request(context, order);
  show.wait('extraction', 'waiting for its end');
  const transitions = await showUntilClosed(extractionId, events, show);
  const view = await read(system, extractionId, signal);
  const { results: _results, ...record } = view;
  show.done('record', `GET /extractions/${extractionId} → 200`);
  show.block(showValue(record));
  show.rest();
  const why = view.reason === undefined ? '' : `   reason: ${view.reason}`;
  show.done(
    'extraction',
    `${view.status}${why}   settledBy: ${view.settledBy}   transitions: ${transitions}`,
  );
  return view;
};

const request = async ({ system: { api }, show, signal }: DemoContext, order: unknown): Promise<string> => {
  const response = await api.fetch(`${api.base}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
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

/** Until the record is closed and the execution has ended, in whatever order: the number of its transitions. */
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
      // The record to act on, whole (docs/stream.md): the one in which the outcome appears.
      if (isSettling(event.record)) show.block(showRecord(event.record));
      closed ||= isClosed(event.record);
    } else {
      if (isTransition(event.event)) transitions += 1;
      ended ||= isEnd(event.event);
    }
    if (ended && closed) return transitions;
  }
  throw new ExtractionFailed('The watching ended before the extraction was closed.');
};

const isSettling = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage?.settledAt !== undefined && dynamodb.OldImage?.settledAt === undefined;

/** Closed: nothing is left to do, so the record has left the sparse index `due`. */
const isClosed = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage !== undefined && dynamodb.NewImage.dueShard === undefined;

const read = async ({ api }: LocalSystem, extractionId: string, signal: AbortSignal): Promise<View> => {
  const response = await api.fetch(`${api.base}/extractions/${extractionId}`, { signal });
  if (response.ok) return (await response.json()) as View;
  throw new ExtractionFailed(`The API answered ${response.status} to GET /extractions/${extractionId}.`);
};

/** Fetches the results as their caller would. @throws ExtractionFailed where there are none, or others */
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
