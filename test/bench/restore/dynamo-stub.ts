/**
 * A process that answers like DynamoDB with a backup of so many records, and with a table that has none of them. Its arguments are the number
 * of records and the milliseconds until it answers. It sends its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { itemBytes } from '../units/item-bytes.ts';
import { backupItem, openOneOf } from './backup-record.ts';

const [records = 0, answerMs = 0] = process.argv.slice(2).map(Number);

const [open, closed] = [backupItem(true), backupItem(false)];

/** A scan reads 1 MB at a time, before its filter. */
const perPage = Math.floor(2 ** 20 / itemBytes(closed));

type Scan = {
  readonly Segment: number;
  readonly TotalSegments: number;
  readonly FilterExpression: string;
  readonly ExclusiveStartKey?: { readonly extractionId: { readonly S: string } };
};

const scan = ({ Segment, TotalSegments, FilterExpression, ExclusiveStartKey }: Scan): object => {
  const end = Math.floor((records * (Segment + 1)) / TotalSegments);
  const first = Number(ExclusiveStartKey?.extractionId.S ?? Math.floor((records * Segment) / TotalSegments));
  const next = Math.min(end, first + perPage);
  const isWanted = FilterExpression.startsWith('attribute_exists');
  const Items = [];
  for (let index = first; index < next; index += 1) {
    const isOpen = index % openOneOf === 0;
    // As long as the id of an extraction.
    const extractionId = { S: String(index).padStart(36, '0') };
    if (isOpen === isWanted) Items.push({ ...(isOpen ? open : closed), extractionId });
  }
  return { Items, ...(next < end && { LastEvaluatedKey: { extractionId: { S: String(next) } } }) };
};

const insertAll = (body: string): object => ({
  Responses: Array.from({ length: body.split('"Statement":').length - 1 }, () => ({ TableName: 'live' })),
});

const server = createServer(async (request, response) => {
  const body = await text(request);
  const operation = String(request.headers['x-amz-target']).split('.')[1];
  const answer = operation === 'Scan' ? scan(JSON.parse(body)) : insertAll(body);
  await delay(answerMs);
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
// The benchmark ends, however it does.
process.once('disconnect', () => process.exit());
