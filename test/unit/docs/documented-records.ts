import { readdirSync, readFileSync } from 'node:fs';
import type { StreamRecord } from '#lib/downstream/decode-extraction-event.ts';

const folder = new URL('../../../docs/events/', import.meta.url);

/** The example records of docs/events, by the kind that names the file. */
export const documentedRecords = (): ReadonlyMap<string, StreamRecord> =>
  new Map(
    readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => [
        file.replace(/\.json$/, ''),
        JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as StreamRecord,
      ]),
  );
