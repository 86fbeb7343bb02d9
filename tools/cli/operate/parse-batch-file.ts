import { type BatchRequest, keyInBatch } from '../../../lib/client/request-all.ts';
import { type AcceptedRequests, extractionRequestParser } from '../../../lib/extraction/api/parse-request.ts';
import { isIdempotencyKey } from '../../../lib/idempotency-key.ts';
import { CliError } from '../terminal/errors.ts';
import { parseJson } from './build-extraction-request.ts';

/** One request, and the number of its line. */
export type BatchLine = { readonly number: number; readonly request: BatchRequest };

/** As many as a summary counts. */
const maxRequests = 10_000;

/** More would scroll the first ones away. */
const maxShown = 20;

const parseLine = (
  text: string,
  number: number,
  batch: string,
  parse: ReturnType<typeof extractionRequestParser>,
): BatchLine => {
  const json = parseJson(text, `Line ${number}`);
  const { idempotencyKey, ...body } = { ...(json as { readonly idempotencyKey?: unknown }) };
  if (
    idempotencyKey !== undefined &&
    !(typeof idempotencyKey === 'string' && isIdempotencyKey(idempotencyKey))
  ) {
    throw new CliError(`Line ${number}: /idempotencyKey must have 1 to 255 printable ASCII characters.`);
  }
  const parsed = parse({ batch, ...body });
  if (parsed.kind === 'invalid') {
    throw new CliError(
      parsed.violations.map(({ pointer, detail }) => `Line ${number}: ${pointer} ${detail}.`),
    );
  }
  if (parsed.request.batch !== batch)
    throw new CliError(`Line ${number}: /batch is another one than --batch.`);
  // As it was written: what a later version of the API takes for a default may be another one.
  return { number, request: json as BatchRequest };
};

/**
 * The requests of a file with one JSON a line, all of them valid, so that no part of a batch is requested before its file is right.
 * Throws CliError that names the lines, and has nothing of what is in them.
 */
export const parseBatchFile = (
  text: string,
  batch: string,
  accepted: AcceptedRequests,
): readonly BatchLine[] => {
  const parse = extractionRequestParser(accepted);
  const [lines, wrong]: [BatchLine[], string[]] = [[], []];
  const numberOfKey = new Map<string, number>();
  for (const [index, one] of text.split(/\r?\n/).entries()) {
    if (one.trim() === '') continue;
    try {
      const line = parseLine(one, index + 1, batch, parse);
      const key = keyInBatch(batch, line.request);
      const before = numberOfKey.get(key);
      numberOfKey.set(key, before ?? line.number);
      lines.push(line);
      if (before !== undefined) {
        wrong.push(
          `Line ${line.number} shows the same as line ${before}. Give each a reference or an idempotencyKey.`,
        );
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      wrong.push(...error.lines);
    }
  }
  if (wrong.length > 0) {
    const more = wrong.length - maxShown;
    const rest = more > 0 ? [`And ${more.toLocaleString('en')} more.`] : [];
    throw new CliError([...wrong.slice(0, maxShown), ...rest, 'Nothing was requested.']);
  }
  if (lines.length === 0) throw new CliError('The file has no request.');
  if (lines.length <= maxRequests) return lines;
  throw new CliError(
    `The file has more than ${maxRequests.toLocaleString('en')} requests. Give each part a batch of its own.`,
  );
};
