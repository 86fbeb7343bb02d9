import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeExtractionEvent, type StreamRecord } from '../../lib/downstream/decode-extraction-event.ts';
import { repository } from '../local/paths.ts';
import { findBreaks } from './find-breaks.ts';
import type { Schema } from './schema.ts';
import { contractSchemas } from './schemas.ts';

// `npm run docs:schemas`: writes docs/schemas, unless that would break what the files promise, and docs/events/forwarded.
const events = join(repository, 'docs/events');

/** Writes each example record of the stream as `cosecha listen` posts it. */
const writeForwarded = async (): Promise<void> => {
  await mkdir(join(events, 'forwarded'), { recursive: true });
  for (const file of (await readdir(events)).filter((name) => name.endsWith('.json'))) {
    const record = JSON.parse(await readFile(join(events, file), 'utf8')) as StreamRecord;
    const body = JSON.stringify(decodeExtractionEvent(record), undefined, 2);
    await writeFile(join(events, 'forwarded', file), `${body}\n`);
  }
};

const schemas = Object.entries(contractSchemas());
const breaks: string[] = [];
for (const [name, schema] of schemas) {
  const published = await readFile(join(repository, 'docs/schemas', name), 'utf8').catch(() => '{}');
  breaks.push(...findBreaks(JSON.parse(published) as Schema, schema).map((what) => `${name}: ${what}`));
}
if (breaks.length === 0) {
  for (const [name, schema] of schemas) {
    await writeFile(join(repository, 'docs/schemas', name), `${JSON.stringify(schema, null, 2)}\n`);
  }
  await writeForwarded();
} else {
  console.error(breaks.join('\n'));
  process.exitCode = 1;
}
