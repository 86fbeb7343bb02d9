import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { dynamoExtractionStore } from '#lib/aws/dynamo-extraction-store.ts';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import type { Timings } from '#lib/extraction/deadlines.ts';
import { markRunningLate } from '#lib/extraction/transitions.ts';
import { eventually } from '../support/eventually.ts';
import { documentedRecords } from '../unit/docs/documented-records.ts';
import { aws } from './support/aws.ts';
import { moveTimes } from './support/backdate.ts';
import { extractWith, provider } from './support/call-extractions.ts';
import { closed, inStatus, recordsOf } from './support/records.ts';
import { timedOut } from './support/running-extractions.ts';
import { sweepUntilClosed } from './support/sweep-until-closed.ts';

const TableName = inject('cosecha').outputs.ExtractionsTableName ?? '';

const kindsOf = (extractionId: string) =>
  recordsOf(extractionId).map((record) => decodeExtractionEvent(record).kind);
const withoutHousekeeping = (extractionId: string) =>
  kindsOf(extractionId).filter((kind) => kind !== 'housekeeping');

const plain = async (): Promise<string> => {
  const { extractionId } = await extractWith({}, { reference: 'order-1042' });
  await closed(extractionId);
  return extractionId;
};

/** The first read fails, so the message that collects sets `dueAt` and another one collects. */
const collectedLate = async (): Promise<string> => {
  const { extractionId } = await extractWith({ read: [{ kind: 'answer', status: 503 }] });
  // A sweep before the outcome would use up the failure.
  await inStatus(extractionId, 'COMPLETED');
  await sweepUntilClosed(extractionId);
  return extractionId;
};

const correction = async (): Promise<string> => {
  const { extractionId } = await extractWith({ durationMs: null });
  const { taskId = '' } = await timedOut(extractionId);
  await provider.finish(taskId, 'COMPLETED');
  await inStatus(extractionId, 'COMPLETED');
  await sweepUntilClosed(extractionId);
  return extractionId;
};

/** Its task runs on until grace is over. */
const stillRunning = async (): Promise<string> => {
  const { extractionId } = await extractWith({ durationMs: null });
  await timedOut(extractionId);
  await moveTimes(extractionId, { settledAt: new Date(Date.now() - 2 * 86_400_000).toISOString() });
  await sweepUntilClosed(extractionId);
  return extractionId;
};

/** The start call is answered 503, so the extraction is UNCONFIRMED. Then its attempt writes the taskId late. */
const reopened = async (): Promise<string> => {
  const { username, extractionId } = await extractWith({
    startForever: { kind: 'accept-then-answer', status: 503 },
  });
  const unconfirmed = await closed(extractionId);
  const [task] = await provider.tasks({ username });
  const late = markRunningLate({
    record: unconfirmed,
    attemptId: unconfirmed.attemptId ?? '',
    taskId: task?.taskId ?? '',
    now: new Date(),
    timings: { pollEvery: 1 } as Timings,
  });
  await dynamoExtractionStore(aws.dynamo, TableName).apply(late);
  await sweepUntilClosed(extractionId);
  return extractionId;
};

const tooLarge = async (): Promise<string> => {
  const { extractionId } = await extractWith({ readForever: { kind: 'big', bytes: 20_971_521 } });
  await closed(extractionId);
  return extractionId;
};

const putBack = async (): Promise<string> => {
  const extractionId = await plain();
  const Key = { extractionId: { S: extractionId } };
  const { Item } = await aws.dynamo.send(new GetItemCommand({ TableName, Key }));
  await aws.dynamo.send(new DeleteItemCommand({ TableName, Key }));
  await aws.dynamo.send(new PutItemCommand({ TableName, Item }));
  await eventually(() => expect(kindsOf(extractionId)).toContain('restored'));
  return extractionId;
};

const scenarios = { plain, collectedLate, correction, stillRunning, reopened, tooLarge, putBack };

/** An extraction of each scenario. Together they publish every kind but `expired`, because no retention ends here. */
let ids: Record<keyof typeof scenarios, string>;

beforeAll(async () => {
  const named = Object.entries(scenarios).map(async ([name, request]) => [name, await request()] as const);
  ids = Object.fromEntries(await Promise.all(named)) as typeof ids;
});

describe('the stream publishes, in order,', () => {
  const steps = ['requested', 'progressed', 'progressed'];
  test.for([
    ['plain', [...steps, 'settled', 'collected']],
    ['correction', [...steps, 'settled', 'corrected', 'collected']],
    ['stillRunning', [...steps, 'settled', 'advised']],
    ['reopened', ['requested', 'progressed', 'settled', 'reopened', 'settled', 'collected']],
    ['tooLarge', [...steps, 'settled', 'not-collected']],
    ['putBack', [...steps, 'settled', 'collected', 'erased', 'restored']],
  ] as const)('for the extraction %s: %s', ([scenario, kinds]) => {
    expect(withoutHousekeeping(ids[scenario])).toEqual(kinds);
  });
});

/** The path of every attribute, types included. The elements of a list count as one. */
const shapeOf = (value: unknown, path = ''): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Object.entries(value).map(
    ([key, inner]) => [Array.isArray(value) ? '' : key, inner] as const,
  );
  return [...new Set(entries.flatMap(([key, inner]) => shapeOf(inner, `${path}/${key}`)))].toSorted();
};

describe('the example in docs/events has the attributes of a real record', () => {
  const documented = documentedRecords();

  test.for([
    ['requested', 'plain'],
    ['progressed', 'plain'],
    ['settled', 'plain'],
    ['corrected', 'correction'],
    ['reopened', 'reopened'],
    ['collected', 'plain'],
    ['not-collected', 'tooLarge'],
    ['advised', 'stillRunning'],
    ['housekeeping', 'collectedLate'],
    ['restored', 'putBack'],
    ['erased', 'putBack'],
  ] as const)('of the kind %s', ([kind, scenario]) => {
    // Tests change times of records, which is housekeeping too. The documented record is of the time after the outcome.
    const isDocumented = (one: DynamoDBRecord) =>
      decodeExtractionEvent(one).kind === kind &&
      (kind !== 'housekeeping' || one.dynamodb?.NewImage?.settledAt !== undefined);
    const record = recordsOf(ids[scenario]).find(isDocumented);
    // A last read is kept in the record, and a
    // read that fails is marked.
    const shape = shapeOf(record).filter((path) => !/\/(lastReadBegunAt|readsSlowly)\//.test(path));
    expect(shapeOf(documented.get(kind))).toEqual(shape);
  });
});
