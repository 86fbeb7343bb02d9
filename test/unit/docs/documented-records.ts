import { readFileSync } from 'node:fs';
import type { StreamRecord } from '../../../lib/downstream/decode-extraction-event.ts';

const page = readFileSync(new URL('../../../docs/stream.md', import.meta.url), 'utf8');

/** The records that docs/stream.md shows, by the kind that each stands under as a heading. */
export const documentedRecords = (): ReadonlyMap<string, StreamRecord> =>
  new Map(
    [...page.matchAll(/^### `([a-z-]+)`\n+(?:(?!^#).*\n)*?```json\n([\s\S]*?)\n```$/gm)].map(
      ([, kind = '', json = '']) => [kind, JSON.parse(json) as StreamRecord],
    ),
  );
