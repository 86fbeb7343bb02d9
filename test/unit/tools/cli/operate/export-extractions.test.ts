import { appendFile, chmod, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NamedEntry, NameIndex } from '#lib/extraction/store.ts';
import { extraction, iso } from '#support/data/extraction-fixtures.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { byName } from '#tools/cli/commands/export.ts';
import {
  type ExportDeps,
  type ExportPage,
  endExport,
  exportExtractions,
  readProgress,
} from '#tools/cli/operate/export-extractions.ts';
import { schemaViolations } from '../../../docs/contract-schemas.ts';

const newFile = (): string => join(temporaryDirectory(), 'extractions.jsonl');

const page = (...numbers: readonly number[]): ExportPage => ({
  records: numbers.map((number) => extraction({ extractionId: `id-${number}` })),
  read: 2 * numbers.length,
  units: 100,
  next: { extractionId: { S: `id-${numbers.at(-1)}` } },
});

/** A segment of these pages. The last one has no `next`. */
const segmentOf = (...pages: readonly ExportPage[]) =>
  async function* (after: ExportPage['next']) {
    const first =
      after === undefined
        ? 0
        : pages.findIndex(({ next }) => next?.extractionId?.S === after.extractionId?.S) + 1;
    for (const [index, one] of pages.entries()) {
      if (index < first) continue;
      yield index === pages.length - 1 ? { ...one, next: undefined } : one;
    }
  };

const deps = (more: Partial<ExportDeps>): ExportDeps => ({
  asked: '{}',
  segments: [],
  unitsPerSecond: 500,
  now: () => new Date(0),
  sleep: async () => undefined,
  onPage: () => undefined,
  ...more,
});

const eventsIn = async (path: string) => {
  const text = await readFile(path, 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
};

test('an export has every record of all segments as one event a line', async () => {
  const path = newFile();
  const segments = [segmentOf(page(1, 2), page(3)), segmentOf(page(4))];
  expect(await exportExtractions(path, deps({ segments }))).toMatchObject({ read: 8, written: 4 });
  const events = await eventsIn(path);
  expect(events.map(({ extractionId }) => extractionId).toSorted()).toEqual(['id-1', 'id-2', 'id-3', 'id-4']);
  for (const event of events) expect(schemaViolations('event.json', event)).toEqual([]);
  await endExport(path);
  expect(await readdir(join(path, '..'))).toEqual(['extractions.jsonl']);
});

test('an export that was interrupted goes on, and writes each record once', async () => {
  const path = newFile();
  const cutOff = async function* () {
    yield page(1, 2);
    throw new Error('the network is down');
  };
  const asked = '{"since":"30d"}';
  const begun = exportExtractions(path, deps({ asked, since: iso(0), segments: [cutOff] }));
  await expect(begun).rejects.toThrow('the network is down');
  // 30d are still those of the first time.
  expect(await readProgress(path, asked)).toMatchObject({ since: iso(0) });
  await expect(readProgress(path, '{"since":"1d"}')).rejects.toThrow('was begun with {"since":"30d"}');
  await appendFile(path, '{"half of a');
  await exportExtractions(path, deps({ asked, segments: [segmentOf(page(1, 2), page(3))] }));
  expect((await eventsIn(path)).map(({ extractionId }) => extractionId)).toEqual(['id-1', 'id-2', 'id-3']);
});

test('an export that was interrupted before its first page goes on', async () => {
  const path = newFile();
  const cutOff = async function* () {
    if (path !== '') throw new Error('the network is down');
    yield page();
  };
  await expect(exportExtractions(path, deps({ segments: [cutOff] }))).rejects.toThrow('the network is down');
  await exportExtractions(path, deps({ segments: [segmentOf(page(1))] }));
  expect((await eventsIn(path)).map(({ extractionId }) => extractionId)).toEqual(['id-1']);
});

test('an export writes into no file that somebody else has put there', async () => {
  const path = newFile();
  await writeFile(path, '', { mode: 0o666 });
  await expect(exportExtractions(path, deps({}))).rejects.toThrow('exists, and is not overwritten');
  await rm(path);
  const target = `${path}.target`;
  await writeFile(target, 'mine');
  for (const planted of [path, `${path}.progress`, `${path}.progress.new`]) {
    await symlink(target, planted);
    await exportExtractions(path, deps({ segments: [segmentOf(page(1))] })).catch(() => undefined);
    expect([planted, await readFile(target, 'utf8')]).toEqual([planted, 'mine']);
    await Promise.all([planted, path].map((file) => rm(file, { force: true })));
  }
});

test('an export that others can write to is not continued', async () => {
  const path = newFile();
  await writeFile(path, '{"of":"somebody"}\n', { mode: 0o644 });
  await writeFile(`${path}.progress`, JSON.stringify({ asked: '{}', bytes: 18, segments: [] }), {
    mode: 0o600,
  });
  await expect(exportExtractions(path, deps({}))).rejects.toThrow('is not only yours');
  await chmod(path, 0o600);
  await chmod(`${path}.progress`, 0o644);
  await expect(exportExtractions(path, deps({}))).rejects.toThrow('is not only yours');
});

test('all segments together read no more units a second than are allowed', async () => {
  let now = 0;
  const sleep = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
  };
  const segments = [segmentOf(page(1), page(2)), segmentOf(page(3))];
  await exportExtractions(newFile(), deps({ segments, sleep, now: () => new Date(now) }));
  // 3 pages of 100 units, at 500 a second.
  expect(now).toBeGreaterThanOrEqual(600);
});

test('what an index has by a name is read a hundred at a time, from where an export was interrupted', async () => {
  const entries = Array.from({ length: 250 }, (_, number) => ({ extractionId: `${number}` }) as NamedEntry);
  const index: NameIndex = {
    find: async ({ limit, after }) => {
      const first = after === undefined ? 0 : Number(after.extractionId) + 1;
      const [page, last] = [entries.slice(first, first + limit), entries[first + limit - 1]];
      return { entries: page, ...(last && { last }) };
    },
  };
  const read = async (ids: readonly string[]) => ids.map((extractionId) => extraction({ extractionId }));
  const { records, segments } = await byName({ by: 'batch', name: 'b' }, index, read);
  const readsAfter = async (next?: ExportPage['next']) => {
    const pages: ExportPage[] = [];
    for await (const one of segments[0]?.(next) ?? []) pages.push(one);
    return pages;
  };
  const pages = await readsAfter();
  expect([records, pages.map(({ units }) => units)]).toEqual([250, [100, 100, 50]]);
  expect(await readsAfter(pages[0]?.next)).toEqual(pages.slice(1));
});
