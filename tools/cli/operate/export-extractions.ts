import { lstat, rm } from 'node:fs/promises';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { ExtractionEvent } from '../../../lib/downstream/index.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { CliError } from '../terminal/errors.ts';
import { openOwn, replacePrivately, writePrivately } from '../terminal/private-files.ts';

type Key = Readonly<Record<string, AttributeValue>>;

/** `next`: where the segment goes on. `read`: records that were read, `units`: of capacity, for which AWS charges. */
export type ExportPage = {
  readonly records: readonly Extraction[];
  readonly read: number;
  readonly units: number;
  readonly next?: Key | undefined;
};

/** A part of the table, which is read beside the others. */
export type ExportSegment = (after: Key | undefined) => AsyncIterable<ExportPage>;

/** How far an export is. Everything in the first `bytes` of the file is exported, and what follows is not yet counted. */
type Progress = {
  /** What was asked for. It must be the same when an export goes on. */
  readonly asked: string;
  /** What `--since` and `--until` meant when the export began. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly bytes: number;
  readonly read: number;
  readonly written: number;
  readonly segments: readonly ('all' | 'none' | Key)[];
};

export type ExportDeps = Pick<Progress, 'asked' | 'since' | 'until'> & {
  readonly segments: readonly ExportSegment[];
  readonly unitsPerSecond: number;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  readonly onPage: (progress: Pick<Progress, 'read' | 'written'>) => void;
};

/**
 * The state of an extraction as an event (docs/schemas/event.json), which a consumer uses as it is. Every change in the stream has a higher
 * sequence number.
 */
export const exportedEvent = (extraction: Extraction): ExtractionEvent => ({
  kind: 'restored',
  extractionId: extraction.extractionId,
  eventId: `export-${extraction.extractionId}`,
  sequenceNumber: '0',
  extraction,
});

/** At most so many units a second on average, whatever the segments read at the same time. */
const paceOf = ({ unitsPerSecond, now, sleep }: ExportDeps) => {
  let freeAt = now().getTime();
  return async (units: number): Promise<void> => {
    freeAt = Math.max(freeAt, now().getTime()) + (units / unitsPerSecond) * 1_000;
    await sleep(Math.max(0, freeAt - now().getTime()));
  };
};

const progressFile = (path: string): string => `${path}.progress`;

/** Whether there is such a file, or a link. */
const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Undefined if no export of this file was interrupted. Throws CliError if it is another file, or the export was of something else. */
export const readProgress = async (path: string, asked: string): Promise<Progress | undefined> => {
  if (!(await exists(path))) return undefined;
  const text = await readOwn(progressFile(path));
  if (text === undefined) {
    throw new CliError(`${path} exists, and is not overwritten. Name another file, or remove this one.`);
  }
  const progress = JSON.parse(text) as Progress;
  if (progress.asked === asked) return progress;
  throw new CliError(
    `${path} was begun with ${progress.asked}, and goes on with that only. Name another file for this export.`,
  );
};

/** The text of a file that only this user can have written, or undefined if there is none. Throws CliError for another's. */
const readOwn = async (path: string): Promise<string | undefined> => {
  if (!(await exists(path))) return undefined;
  const file = await openOwn(path);
  return file.readFile('utf8').finally(() => file.close());
};

/**
 * Writes every extraction of the segments to a new file, as one event a line. What was interrupted goes on where it was, and each line is
 * written once, until `endExport`. Only the owner can read the file.
 */
export const exportExtractions = async (
  path: string,
  deps: ExportDeps,
): Promise<Pick<Progress, 'read' | 'written'>> => {
  const none = {
    asked: deps.asked,
    since: deps.since,
    until: deps.until,
    bytes: 0,
    read: 0,
    written: 0,
    segments: deps.segments.map(() => 'none' as const),
  };
  const begun = await readProgress(path, deps.asked);
  let progress: Progress = begun ?? none;
  const saveProgress = () => replacePrivately(progressFile(path), JSON.stringify(progress));
  if (begun === undefined) {
    // First, so that an export which is interrupted here can go on.
    await saveProgress();
    await writePrivately(path, '');
  }
  const file = await openOwn(path);
  const save = async (page: ExportPage, index: number): Promise<void> => {
    const lines = page.records.map((record) => `${JSON.stringify(exportedEvent(record))}\n`).join('');
    const bytes = Buffer.from(lines);
    await file.write(bytes, 0, bytes.length, progress.bytes);
    progress = {
      ...progress,
      bytes: progress.bytes + bytes.length,
      read: progress.read + page.read,
      written: progress.written + page.records.length,
      segments: progress.segments.with(index, page.next ?? 'all'),
    };
    await saveProgress();
    deps.onPage(progress);
  };
  const pace = paceOf(deps);
  let saving: Promise<unknown> = Promise.resolve();
  const exportSegment = async (segment: ExportSegment, index: number): Promise<void> => {
    const reached = progress.segments[index] ?? 'none';
    if (reached === 'all') return;
    for await (const page of segment(reached === 'none' ? undefined : reached)) {
      saving = saving.then(() => save(page, index));
      await saving;
      await pace(page.units);
    }
  };
  try {
    // What an interrupted export wrote after its last progress is written again.
    await file.truncate(progress.bytes);
    await Promise.all(deps.segments.map(exportSegment));
  } finally {
    await file.close();
  }
  return progress;
};

/** The export is complete. From then on its file is not written to again. */
export const endExport = (path: string): Promise<void> => rm(progressFile(path), { force: true });
