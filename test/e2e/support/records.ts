import { AsyncLocalStorage } from 'node:async_hooks';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { inject } from 'vitest';
import { dynamoExtractionStore } from '#lib/aws/dynamo-extraction-store.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { openStream } from '../../../tools/cli/aws/follow-stream.ts';
import { asLambdaRecord } from '../../../tools/cli/listen/lambda-event.ts';
import { waitMs } from '../time-limits.ts';
import { aws } from './aws.ts';

/** The extractions of the running test. Tests of one file run concurrently. */
export const extractionsOfTest = new AsyncLocalStorage<Set<string>>();

/** Adds this extraction to the error message if the test fails. */
export const noteExtraction = (extractionId: string): void => {
  extractionsOfTest.getStore()?.add(extractionId);
};

/** The images of one stream record. */
type StreamImage = { readonly old: Extraction | undefined; readonly new: Extraction | undefined };

type Waiting = {
  readonly what: string;
  readonly fits: (record: Extraction) => boolean;
  readonly resolve: (record: Extraction) => void;
};

const seen = new Map<string, StreamImage[]>();
const records = new Map<string, DynamoDBRecord[]>();
const waiting = new Map<string, Set<Waiting>>();

type Image = Parameters<typeof unmarshall>[0];
const toRecord = (image: unknown): Extraction | undefined =>
  image === undefined ? undefined : (unmarshall(image as Image) as Extraction);

const { outputs } = inject('cosecha');
const streamArn = outputs.ExtractionsStreamArn ?? '';
const stream = await openStream(aws.streams, streamArn, new AbortController().signal);

const follow = async (): Promise<void> => {
  for await (const record of stream) {
    const { dynamodb } = record;
    const image = { old: toRecord(dynamodb?.OldImage), new: toRecord(dynamodb?.NewImage) };
    const extractionId = image.new?.extractionId ?? image.old?.extractionId ?? '';
    seen.set(extractionId, [...(seen.get(extractionId) ?? []), image]);
    records.set(extractionId, [...(records.get(extractionId) ?? []), asLambdaRecord(record, streamArn)]);
    for (const one of waiting.get(extractionId) ?? []) {
      if (image.new !== undefined && one.fits(image.new)) one.resolve(image.new);
    }
  }
};
void follow();

/** The stream images of an extraction so far, in order. */
const streamOf = (extractionId: string): readonly StreamImage[] => seen.get(extractionId) ?? [];

/** The stream records of an extraction so far, as Lambda passes them on. */
export const recordsOf = (extractionId: string): readonly DynamoDBRecord[] => records.get(extractionId) ?? [];

/** The statuses of an extraction in the stream so far, in order. */
export const statusesOf = (extractionId: string): readonly string[] =>
  streamOf(extractionId)
    .filter((image) => image.old?.status !== image.new?.status)
    .map((image) => image.new?.status ?? 'removed');

/** The record as it is in the table now. The stream may be behind. */
export const readRecord = dynamoExtractionStore(aws.dynamo, outputs.ExtractionsTableName ?? '').get;

/** The statuses and the last three records of an extraction, for an error message. */
export const describeRecords = (extractionId: string): string => {
  const last = streamOf(extractionId).slice(-3);
  const statuses = statusesOf(extractionId).join(' → ') || 'none';
  const missing = [...(waiting.get(extractionId) ?? [])].map(({ what }) => ` It was not ${what}.`).join('');
  return `Its statuses: ${statuses}.${missing} Its last records:\n${last.map((image) => JSON.stringify(image.new ?? 'removed')).join('\n')}`;
};

/** Waits for the first record of an extraction in the stream that fits, past ones included. `what` is for the error. */
export const recordWhere = (
  extractionId: string,
  what: string,
  fits: (record: Extraction) => boolean,
): Promise<Extraction> => {
  noteExtraction(extractionId);
  const past = streamOf(extractionId).find((image) => image.new !== undefined && fits(image.new))?.new;
  if (past !== undefined) return Promise.resolve(past);
  return new Promise((resolve, reject) => {
    const waitingForIt = waiting.get(extractionId) ?? new Set();
    waiting.set(extractionId, waitingForIt);
    const timer = setTimeout(() => {
      waitingForIt.delete(one);
      reject(new Error(`${extractionId} was not ${what} in ${waitMs} ms.`));
    }, waitMs);
    const one: Waiting = {
      what,
      fits,
      resolve: (record) => {
        clearTimeout(timer);
        waitingForIt.delete(one);
        resolve(record);
      },
    };
    waitingForIt.add(one);
  });
};

/** Waits until a record is closed: settled, with nothing left to do. */
export const closed = (extractionId: string): Promise<Extraction> =>
  recordWhere(extractionId, 'closed', (record) => record.dueShard === undefined);

export const inStatus = (extractionId: string, status: string): Promise<Extraction> =>
  recordWhere(extractionId, status, (record) => record.status === status);
