import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { failingReference } from '../stream-consumer.ts';
import { type Check, passed, skipped, webhookArrives } from './check.ts';
import type { AcceptContext } from './context.ts';
import { extract, requestOf } from './extractions.ts';
import { readLogLines } from './report-lines.ts';

/** Whether an object of the bucket names an extraction. */
const bucketNames = async (s3: S3Client, Bucket: string, extractionId: string): Promise<boolean> => {
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
    for (const { Key } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      if ((await Body?.transformToString())?.includes(extractionId)) return true;
    }
  }
  return false;
};

const until = async (
  { waitFor, sleep }: AcceptContext,
  what: string,
  holds: () => Promise<boolean>,
): Promise<void> => {
  waitFor(what);
  while (!(await holds())) await sleep(3_000);
};

/** The records of both extractions come together, so that Lambda has to split a batch. */
export const streamConsumer: Check = {
  id: 'stream-consumer',
  title: 'A consumer that fails on one record reads the others, and the failure bucket keeps that one',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: () => 240,
  notOnEmulator: 'it splits no batches, and knows no bucket for failures',
  run: async (context) => {
    const { fakeProvider, client, startedAt } = context;
    const [logGroup, bucket] = [
      fakeProvider.output('ConsumerLogGroup'),
      fakeProvider.output('ConsumerFailuresBucket'),
    ];
    if (logGroup === undefined || bucket === undefined) {
      return skipped('not configured: no stack of readers has the output ConsumerLogGroup');
    }
    const request = requestOf('stream-consumer', {});
    const [failing, other] = await Promise.all([
      extract(context, { ...request, reference: failingReference }),
      extract(context, request),
    ]);
    await until(context, `the consumer of the stream to read ${other} (its log: ${logGroup})`, async () =>
      (await readLogLines(client, logGroup, startedAt)).some((line) => line.includes(other)),
    );
    const s3 = new S3Client(client);
    await until(context, `the bucket ${bucket} to keep the record of ${failing}`, () =>
      bucketNames(s3, bucket, failing),
    );
    return passed(`it read ${other}, and the bucket has the record of ${failing}`);
  },
};
