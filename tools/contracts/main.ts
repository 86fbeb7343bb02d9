import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeExtractionEvent, type StreamRecord } from '../../lib/downstream/decode-extraction-event.ts';
import { repository } from '../local/paths.ts';
import { contractSchemas } from './contract-schemas.ts';

// `npm run docs:schemas`: writes docs/schemas and docs/events/forwarded. test/releases has what they must keep.
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

for (const [name, schema] of Object.entries(contractSchemas()))
  await writeFile(join(repository, 'docs/schemas', name), `${JSON.stringify(schema, null, 2)}\n`);
await writeForwarded();
