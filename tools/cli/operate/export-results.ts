import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Extraction, StoredResults } from '../../../lib/extraction/record.ts';

/** Each takes some 50 ms of waiting for S3. The SDK has 50 connections. */
const atOnce = 32;

/** Of how many results a directory has which. `stored`: now. `before`: by an earlier run. `gone`: the bucket no longer has them. */
export type ExportedResults = {
  readonly stored: number;
  readonly before: number;
  readonly gone: number;
  /** The ids of extractions whose results do not have the SHA-256 of their record. Nothing of them is kept. */
  readonly differing: readonly string[];
};

type Bytes = AsyncIterable<Uint8Array>;

type ExportResultsDeps = {
  /** The bytes of results. Undefined if the bucket no longer has them. Throws the SDK's errors. */
  readonly read: (stored: StoredResults) => Promise<Bytes | undefined>;
  readonly onProgress: (done: number) => void;
};

type WithResults = { readonly extractionId: string; readonly results: StoredResults };

/** The extractions with results, of a file that `exportExtractions` wrote. */
export async function* resultsIn(path: string): AsyncGenerator<WithResults, void> {
  const file = await open(path);
  for await (const line of file.readLines()) {
    const { extractionId, results } = (JSON.parse(line) as { readonly extraction: Extraction }).extraction;
    if (results !== undefined) yield { extractionId, results };
  }
}

const sha256Of = async (bytes: Bytes): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
};

const isStored = (path: string, { sha256 }: StoredResults): Promise<boolean> =>
  sha256Of(createReadStream(path)).then(
    (found) => found === sha256,
    () => false,
  );

/** Writes a file that only its owner can read, and is in its place once its SHA-256 is right. Returns whether it is. */
const store = async (path: string, bytes: Bytes, { sha256 }: StoredResults): Promise<boolean> => {
  const partial = `${path}.partial`;
  const hash = createHash('sha256');
  const hashed = async function* (source: Bytes): Bytes {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file = await open(partial, flags, 0o600);
  await pipeline(bytes, hashed, file.createWriteStream());
  if (hash.digest('hex') === sha256) {
    await rename(partial, path);
    return true;
  }
  await rm(partial);
  return false;
};

/**
 * Stores the results of many extractions in a directory of its own, each in `<extractionId>.json`, many at a time. What a run before has stored
 * is left. Throws what `read` throws: the same call again continues.
 */
export const exportResults = async (
  directory: string,
  all: AsyncGenerator<WithResults, void>,
  { read, onProgress }: ExportResultsDeps,
): Promise<ExportedResults> => {
  const done = { stored: 0, before: 0, gone: 0 };
  const differing: string[] = [];
  const exportOne = async ({
    extractionId,
    results,
  }: WithResults): Promise<keyof typeof done | undefined> => {
    const path = join(directory, `${extractionId}.json`);
    if (await isStored(path, results)) return 'before';
    const bytes = await read(results);
    if (bytes === undefined) return 'gone';
    return (await store(path, bytes, results)) ? 'stored' : undefined;
  };
  const work = async (): Promise<void> => {
    for await (const one of all) {
      const what = await exportOne(one);
      if (what === undefined) differing.push(one.extractionId);
      else done[what] += 1;
      onProgress(done.stored + done.before + done.gone + differing.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { ...done, differing };
};
