import { createHash } from 'node:crypto';
import { on } from 'node:events';
import { describeHappening } from './describe-happening.ts';
import { ExtractionFailed } from './expected-failure.ts';
import { isEnd, isTransition } from './follow-execution.ts';
import type { StreamRecord } from './follow-stream.ts';
import type { LocalSystem } from './local-system.ts';
import type { Show } from './show.ts';
import { showRecord, showValue } from './show-value.ts';
import { summarizeResults } from './summarize-results.ts';
import type { Happening, Watch } from './watch-system.ts';

/** What the API says of an extraction, as far as the demonstration reads it (docs/api.md). */
type View = {
  extractionId: string;
  status: string;
  reason?: string;
  settledBy?: string;
  collectedAt?: string;
  collectionError?: string;
  results?: { url: string; bytes: number; sha256: string };
};

/** The request that the demonstration, and the printed curl line, send: an outcome `COMPLETED` of the sandbox. */
export const demoRequest = {
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

/** It takes about 4 s; the longest way, over a lost webhook and the poll, under 30 s. */
const DEADLINE_MS = 60_000;

/**
 * Starts one extraction, shows it live until it is closed, and fetches its results as its caller would.
 *
 * @throws ExtractionFailed where it was refused, did not close in time, or has no results
 */
export async function demonstrate(
  system: LocalSystem,
  watch: Watch,
  show: Show,
  stop: AbortSignal,
): Promise<void> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([stop, deadline]);
  try {
    // Before the request, so that its first events are kept for the loop below.
    const happenings = on(watch, 'event', { signal }) as AsyncIterableIterator<[Happening]>;
    const extractionId = await request(system, show, signal);
    show.wait('extraction', 'waiting for its end');
    const transitions = await showUntilClosed(extractionId, happenings, show);
    const view = await read(system, extractionId, signal);
    await showResults(view, show, signal);
    show.rest();
    show.done('extraction', `${view.status}   settledBy: ${view.settledBy}   transitions: ${transitions}`);
  } catch (error) {
    if (!deadline.aborted || stop.aborted) throw error;
    const seconds = DEADLINE_MS / 1000;
    throw new ExtractionFailed(`The extraction was not closed within ${seconds} s.`, { cause: error });
  }
}

async function request({ api }: LocalSystem, show: Show, signal: AbortSignal): Promise<string> {
  const response = await api.fetch(`${api.base}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(demoRequest),
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
}

/** Until the record is closed and the execution has ended, in whatever order: the number of its transitions. */
async function showUntilClosed(
  extractionId: string,
  happenings: AsyncIterable<[Happening]>,
  show: Show,
): Promise<number> {
  let transitions = 0;
  let ended = false;
  let closed = false;
  for await (const [happening] of happenings) {
    const description = describeHappening(happening);
    if (description) show.note(description.subject, description.text);
    if (happening.source === 'provider' || happening.extractionId !== extractionId) continue;
    if (happening.source === 'stream') {
      // The record to act on, whole (docs/stream.md): the one in which the outcome appears.
      if (isSettling(happening.record)) show.block(showRecord(happening.record));
      closed ||= isClosed(happening.record);
    } else {
      if (isTransition(happening.event)) transitions += 1;
      ended ||= isEnd(happening.event);
    }
    if (ended && closed) return transitions;
  }
  throw new ExtractionFailed('The watching ended before the extraction was closed.');
}

const isSettling = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage?.settledAt !== undefined && dynamodb.OldImage?.settledAt === undefined;

/** Closed: nothing is left to do, so the record has left the sparse index `open`. */
const isClosed = ({ dynamodb }: StreamRecord): boolean =>
  dynamodb?.NewImage !== undefined && dynamodb.NewImage.open === undefined;

async function read({ api }: LocalSystem, extractionId: string, signal: AbortSignal): Promise<View> {
  const response = await api.fetch(`${api.base}/extractions/${extractionId}`, { signal });
  if (response.ok) return (await response.json()) as View;
  throw new ExtractionFailed(`The API answered ${response.status} to GET /extractions/${extractionId}.`);
}

async function showResults(view: View, show: Show, signal: AbortSignal): Promise<void> {
  const { results, ...record } = view;
  show.done('record', `GET /extractions/${view.extractionId} → 200`);
  show.block(showValue(record));
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
}
