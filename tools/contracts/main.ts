import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeExtractionEvent, type StreamRecord } from '../../lib/downstream/decode-extraction-event.ts';
import { busEntryOf, busSource } from '../../lib/downstream/publish-events.ts';
import { repository } from '../local/paths.ts';
import { contractSchemas } from './contract-schemas.ts';

// `npm run docs:schemas`: writes docs/schemas, docs/events/forwarded and docs/events/bus. test/releases has what they must keep.
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

/** Writes the example of an event on the bus, of the same record, as of a request with a `traceparent`. */
const writeBusEvent = async (): Promise<void> => {
  const record = JSON.parse(await readFile(join(events, 'settled.json'), 'utf8')) as StreamRecord;
  const event = decodeExtractionEvent(record);
  if (event.kind !== 'settled') throw new Error('docs/events/settled.json is not settled.');
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const data = { ...event, extraction: { ...event.extraction, traceparent } };
  const { detailType, detail } = busEntryOf(data, 'urn:cosecha:stack:Cosecha-prod');
  const envelope = {
    version: '0',
    id: '6a7e8feb-b491-4cf7-a9f1-bf3703467718',
    'detail-type': detailType,
    source: busSource,
    account: '111122223333',
    time: '2026-11-22T01:04:23Z',
    region: 'us-east-1',
    resources: [],
    detail,
  };
  await writeFile(join(events, 'bus', 'settled.json'), `${JSON.stringify(envelope, undefined, 2)}\n`);
};

for (const [name, schema] of Object.entries(contractSchemas()))
  await writeFile(join(repository, 'docs/schemas', name), `${JSON.stringify(schema, null, 2)}\n`);
await writeForwarded();
await writeBusEvent();
