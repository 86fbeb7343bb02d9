import { createHash } from 'node:crypto';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StoredResults } from '#lib/extraction/record.ts';
import { extraction } from '#support/data/extraction-fixtures.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { exportedEvent } from '#tools/cli/operate/export-extractions.ts';
import { exportResults, resultsIn } from '#tools/cli/operate/export-results.ts';

const resultsOf = (text: string): StoredResults => ({
  bucket: 'b',
  key: text,
  bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
});

/** A directory with the events of these extractions, by their results. */
const exported = async (results: Readonly<Record<string, StoredResults | undefined>>) => {
  const directory = temporaryDirectory();
  const file = join(directory, 'extractions.jsonl');
  const records = Object.entries(results).map(([extractionId, one]) => ({
    ...extraction({ extractionId }),
    ...(one && { results: one }),
  }));
  await writeFile(file, records.map((record) => `${JSON.stringify(exportedEvent(record))}\n`).join(''));
  return {
    directory,
    all: () => resultsIn(file),
    contentOf: (id: string) => readFile(join(directory, `${id}.json`), 'utf8'),
  };
};

const bytesOf = async function* (text: string) {
  for (const character of text) yield Buffer.from(character);
};
const onProgress = () => undefined;

test('results are stored each in a file that only its owner can read, many at a time', async () => {
  const results = Object.fromEntries(
    Array.from({ length: 80 }, (_, index) => [`id-${index}`, resultsOf(`text ${index}`)]),
  );
  const { directory, all, contentOf } = await exported({ ...results, 'without-results': undefined });
  let [running, most] = [0, 0];
  const read = async ({ key }: StoredResults) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return bytesOf(key);
  };
  expect(await exportResults(directory, all(), { read, onProgress })).toEqual({
    stored: 80,
    before: 0,
    gone: 0,
    differing: [],
  });
  expect(await contentOf('id-79')).toBe('text 79');
  expect((await stat(join(directory, 'id-0.json'))).mode & 0o777).toBe(0o600);
  expect(most).toBeGreaterThan(8);
});

test('a run that failed goes on, and reads only what is not stored', async () => {
  const { directory, all, contentOf } = await exported({ one: resultsOf('one'), two: resultsOf('two') });
  const failing = async ({ key }: StoredResults) => {
    if (key === 'two') throw new Error('the network is down');
    return bytesOf(key);
  };
  await expect(exportResults(directory, all(), { read: failing, onProgress })).rejects.toThrow(
    'the network is down',
  );
  await writeFile(join(directory, 'two.json.partial'), 'tw and more');
  const asked: string[] = [];
  const read = async ({ key }: StoredResults) => {
    asked.push(key);
    return bytesOf(key);
  };
  await expect.poll(() => contentOf('one')).toBe('one');
  expect(await exportResults(directory, all(), { read, onProgress })).toMatchObject({ stored: 1, before: 1 });
  expect([asked, await contentOf('two')]).toEqual([['two'], 'two']);
});

test('what differs from its SHA-256 is not kept, and what is gone is counted', async () => {
  const { directory, all } = await exported({ wrong: resultsOf('right'), gone: resultsOf('gone') });
  const read = async ({ key }: StoredResults) => (key === 'gone' ? undefined : bytesOf('other'));
  const done = await exportResults(directory, all(), { read, onProgress });
  expect(done).toEqual({ stored: 0, before: 0, gone: 1, differing: ['wrong'] });
  expect(await readdir(directory)).toEqual(['extractions.jsonl']);
});

test('a link that somebody left in the place of a file is not written through', async () => {
  const { directory, all } = await exported({ one: resultsOf('one') });
  await symlink(join(directory, 'elsewhere'), join(directory, 'one.json.partial'));
  const read = async ({ key }: StoredResults) => bytesOf(key);
  await expect(exportResults(directory, all(), { read, onProgress })).rejects.toThrow('ELOOP');
});
