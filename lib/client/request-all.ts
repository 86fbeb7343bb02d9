import { createHash } from 'node:crypto';
import { isIdempotencyKey } from '../idempotency-key.ts';
import { type ApiError, NoAnswerError } from './api-errors.ts';
import { findLateRequest, type KnownLine } from './find-late-request.ts';
import { type ExtractionRequest, isReplay, postOf } from './request-extraction.ts';
import { type Answer, apiErrorOf, type SendDeps, sendOnce } from './send-with-retries.ts';
import { NoCredentialsError } from './signed-fetch.ts';

/** A request of a batch. Without a key, it gets one derived from the batch and all fields except the secrets and the priority. */
export type BatchRequest = ExtractionRequest & { readonly idempotencyKey?: string };

/** Two requests of a batch without keys differ in no field that makes the key. So the second one would be a replay of the first. */
export class SameRequestError extends Error {
  override readonly name = 'SameRequestError';

  constructor() {
    super('It shows the same as an earlier request. Give each a reference or an idempotencyKey of its own.');
  }
}

/** A request that was not accepted. `index` is its position, from 0. */
export type RefusedRequest = { readonly index: number; readonly error: ApiError | SameRequestError };

export type BatchProgress = {
  /** Requested now. */
  readonly accepted: number;
  /** Requested before under the same key, so nothing was started. */
  readonly replayed: number;
  readonly refused: readonly RefusedRequest[];
};

export type RequestAllOptions = {
  readonly batch: string;
  /** The priority of requests without one. Default `background`, because no person waits for a batch. */
  readonly priority?: 'interactive' | 'background';
  /** If given, `onWarning` is called once, before the first request that cannot be started in time is sent. */
  readonly line?: KnownLine;
  /** Default: `process.emitWarning`. */
  readonly onWarning?: (sentence: string) => void;
  /** Called after each round of answers. */
  readonly onProgress?: (progress: BatchProgress) => void;
};

/**
 * Derives the key of a request without one. It is the same in each run. Secrets are left out, because the extractionId is made from the
 * key. The priority is left out, so that a second run with another priority starts nothing again.
 */
export const keyInBatch = (batch: string, request: BatchRequest): string => {
  if (request.idempotencyKey !== undefined) return request.idempotencyKey;
  const { credentials: _credentials, sessionToken: _token, target: _target, ...rest } = request as AnyRequest;
  const { priority: _priority, batch: _batch, ...given } = rest;
  const defaults = given.method === 'consent' ? { variant: 'v1' } : { method: 'credentials' };
  const hash = createHash('sha256').update(JSON.stringify([batch, { ...defaults, ...given }], inOrder));
  return `batch-${hash.digest('base64url')}`;
};

/** Sorts the fields, so that their order does not change the key. */
const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;

type AnyRequest = Readonly<Record<string, unknown>>;

type Line = { readonly index: number; readonly key: string; readonly body: string };

/** The request was not accepted, or the answer is unknown. It is sent again under the same key. */
type Hindrance = {
  readonly kind: 'throttled' | 'failed';
  readonly error: Error;
  readonly retryAfter: number;
};

type Result =
  | { readonly kind: 'accepted' | 'replayed' }
  | { readonly kind: 'refused'; readonly error: ApiError }
  | Hindrance;

/** The statuses that concern only one request: it is invalid, or its key belongs to another request. */
const ownStatuses: readonly number[] = [400, 413, 422];
const keyBlocked = 'urn:cosecha:problem:idempotency-key-blocked';

const resultOf = (answer: Answer): Result => {
  const { status, headers } = answer;
  if (status < 300) return { kind: isReplay(answer) ? 'replayed' : 'accepted' };
  const error = apiErrorOf(answer);
  if (ownStatuses.includes(status) || error.problem === keyBlocked) return { kind: 'refused', error };
  // Missing permission, a wrong clock or a wrong address would fail every request.
  if (!error.isTransient) throw error;
  const retryAfter = Number(headers.get('retry-after') ?? 0) || 0;
  return { kind: status === 429 ? 'throttled' : 'failed', error, retryAfter };
};

const send = async (apiUrl: string, { key, body }: Line, deps: SendDeps): Promise<Result> => {
  try {
    return resultOf(await sendOnce(`${apiUrl}/extractions`, postOf(key, body), deps));
  } catch (error) {
    if (error instanceof NoAnswerError || error instanceof NoCredentialsError) {
      return { kind: 'failed', error, retryAfter: 0 };
    }
    throw error;
  }
};

/**
 * How many requests are sent at the same time. It grows by one after a round in which all were answered, and else is halved. So it adapts
 * to the throttle, which all callers share. With answers after 150 ms, 50 are more than the default throttle of 50 a second accepts.
 */
const [firstTogether, maxTogether] = [4, 50];

/** The pause before the next round: 1 s, doubled up to 30 s, and at least what the API asks for. */
const pauseMs = (rounds: number, retryAfter: number): number =>
  Math.max(1_000 * Math.min(2 ** (rounds - 1), 30), retryAfter * 1_000);

/**
 * The most rounds in a row in which every request failed. The seven pauses between eight take 1 + 2 + 4 + 8 + 16 + 30 + 30 = 91 s. Rounds
 * that were throttled do not count.
 */
const maxFailedRounds = 8;

const warn = (sentence: string): void => process.emitWarning(sentence);

/**
 * Requests all extractions of a batch, each under its own key, as fast as the throttle allows. A second run with the same batch and
 * requests starts nothing again, so run it again after an error. Throws ApiError if every request would get the same answer, the last error
 * after eight failed rounds in a row, and the reason of `signal` as soon as it is aborted.
 */
export const requestAll = async (
  apiUrl: string,
  requests: Iterable<BatchRequest> | AsyncIterable<BatchRequest>,
  { batch, priority = 'background', line, onWarning = warn, onProgress }: RequestAllOptions,
  deps: SendDeps,
): Promise<BatchProgress> => {
  if (!/^\P{Cc}{1,256}$/u.test(batch)) {
    throw new RangeError('A batch has 1 to 256 characters, and no control characters.');
  }
  let [accepted, replayed] = [0, 0];
  const refused: RefusedRequest[] = [];
  const progress = (): BatchProgress => ({ accepted, replayed, refused });
  const keys = new Set<string>();
  let [together, hinderedRounds, failedRounds] = [firstTogether, 0, 0];

  /** Sends these requests at the same time. Returns the ones to send again. */
  const sendRound = async (lines: readonly Line[]): Promise<readonly Line[]> => {
    const results = await Promise.all(
      lines.map(async (line) => [line, await send(apiUrl, line, deps)] as const),
    );
    const again: Line[] = [];
    const hindrances: Hindrance[] = [];
    for (const [line, result] of results) {
      if ('retryAfter' in result) {
        again.push(line);
        hindrances.push(result);
      } else if (result.kind === 'refused') refused.push({ index: line.index, error: result.error });
      else if (result.kind === 'replayed') replayed += 1;
      else accepted += 1;
    }
    onProgress?.(progress());
    if (hindrances.length === 0) {
      together = Math.min(maxTogether, together + 1);
      [hinderedRounds, failedRounds] = [0, 0];
      return again;
    }
    together = Math.max(1, Math.floor(together / 2));
    hinderedRounds = hindrances.length < lines.length ? 1 : hinderedRounds + 1;
    const allFailed = again.length === lines.length && hindrances.every(({ kind }) => kind === 'failed');
    failedRounds = allFailed ? failedRounds + 1 : 0;
    const [first] = hindrances;
    if (failedRounds === maxFailedRounds && first !== undefined) {
      throw first.error instanceof NoCredentialsError ? first.error.cause : first.error;
    }
    deps.onRetry?.(`${hindrances.length} of ${lines.length} are sent again. ${first?.error.message ?? ''}`);
    await deps.sleep(pauseMs(hinderedRounds, Math.max(...hindrances.map(({ retryAfter }) => retryAfter))));
    return again;
  };

  let waiting: readonly Line[] = [];
  const flush = async (least: number): Promise<void> => {
    while (waiting.length >= least && waiting.length > 0) {
      const lines = waiting.slice(0, together);
      waiting = [...(await sendRound(lines)), ...waiting.slice(lines.length)];
    }
  };
  let [index, isWarned] = [-1, false];
  for await (const request of requests) {
    index += 1;
    const key = keyInBatch(batch, request);
    if (!isIdempotencyKey(key)) {
      throw new RangeError(
        `The idempotencyKey of request ${index} needs 1 to 255 printable ASCII characters.`,
      );
    }
    if (keys.has(key)) {
      refused.push({ index, error: new SameRequestError() });
      continue;
    }
    keys.add(key);
    const late = line === undefined || isWarned ? undefined : findLateRequest(request, index, line);
    if (late !== undefined) onWarning(late);
    isWarned ||= late !== undefined;
    const { idempotencyKey: _key, ...body } = { priority, ...request, batch };
    waiting = [...waiting, { index, key, body: JSON.stringify(body) }];
    await flush(together);
  }
  await flush(1);
  return progress();
};
