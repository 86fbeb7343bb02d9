import { isDeepStrictEqual } from 'node:util';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
import type { ExtractionEvent } from '../../../lib/downstream/extraction-event.ts';
import type { ExtractionCloudEvent } from '../../../lib/downstream/publish-events.ts';
import { openStream, type StreamRecord } from '../../cli/aws/follow-stream.ts';
import { percentile } from '../../cli/aws/read-metric.ts';
import { failingReference } from '../stream-consumer-handler.ts';
import { type AcceptContext, type Check, passed, skipped, Unmet, webhookArrives } from './check.ts';
import { expectAnswer, running } from './check-deliveries.ts';
import { readLogLines } from './lambda-report-lines.ts';
import { extract, requestOf, waitForMessage } from './request-and-await.ts';

const timedWebhooks = 5;

type ReceivedEvent = { readonly event: ExtractionEvent; readonly at: number };

/** Follows the stream, and keeps the events of each extraction, with the time when they were seen. */
const followStream = async ({ client, deployment, signal, now }: AcceptContext) => {
  const changes = new Map<string, ReceivedEvent[]>();
  const problems: string[] = [];
  const streams = new DynamoDBStreamsClient(client);
  const records = await openStream(streams, deployment.output('ExtractionsStreamArn'), signal);
  const add = (record: StreamRecord): void => {
    const event = decodeExtractionEvent(record);
    if (event.kind === 'not-ours') problems.push(event.problem);
    else {
      const before = changes.get(event.extractionId) ?? [];
      changes.set(event.extractionId, [...before, { event, at: now().getTime() }]);
    }
  };
  const following = (async () => {
    for await (const record of records) add(record);
  })();
  // It ends with the check, by an AbortError. Any other error shows as records that do not come.
  following.catch(() => undefined);
  return { changesOf: (id: string) => changes.get(id) ?? [], problems };
};

/** In this order; the service's own changes in between are left out. */
const expectedKinds: readonly string[] = ['requested', 'progressed', 'settled', 'collected'];

export const streamRecords: Check = {
  id: 'stream',
  title: 'The stream has every change of an extraction in order, soon after its webhook',
  turn: 'alone',
  dependsOn: webhookArrives,
  seconds: () => 120,
  run: async (context) => {
    const { changesOf, problems } = await followStream(context);
    const latencies: number[] = [];
    for (let left = timedWebhooks; left > 0; left -= 1) {
      const { extractionId, taskId } = await running(context, 'stream');
      const payload = { taskId, taskStatus: 'COMPLETED' };
      const sentAt = context.now().getTime();
      await expectAnswer(context, 'The webhook', 204, payload, { encrypted: true });
      await context.until(`the stream to have the end of ${extractionId}`, async () =>
        changesOf(extractionId).some(({ event }) => event.kind === 'collected'),
      );
      const kinds = [...new Set(changesOf(extractionId).map(({ event }) => event.kind))];
      const inOrder = kinds.filter((kind) => expectedKinds.includes(kind));
      if (inOrder.join() !== expectedKinds.join()) {
        throw new Unmet(
          `The stream had ${kinds.join(', ')} of ${extractionId}. Check the stream of the table.`,
        );
      }
      const settled = changesOf(extractionId).find(({ event }) => event.kind === 'settled');
      latencies.push((settled?.at ?? 0) - sentAt);
    }
    if (problems.length > 0) throw new Unmet(`The stream has records that cannot be read: ${problems[0]}`);
    const sorted = latencies.toSorted((one, other) => one - other);
    return passed(
      `from sending a webhook to its stream record, seen from here: median ${percentile(sorted, 0.5)} ms, ${sorted[0]} to ${sorted.at(-1)} ms of ${timedWebhooks}`,
    );
  },
};

/** What a target of the bus receives, as far as it is checked. */
type BusEvent = { readonly 'detail-type': string; readonly detail: ExtractionCloudEvent };

export const isSettlementOf =
  (extractionId: string) =>
  (body: string): boolean => {
    if (!body.includes(extractionId)) return false;
    const { 'detail-type': detailType, detail } = JSON.parse(body) as BusEvent;
    return detailType === 'extraction.settled' && detail.subject === extractionId;
  };

export const eventBus: Check = {
  id: 'event-bus',
  title: 'The bus delivers the outcome that the stream has, through a rule of another stack',
  dependsOn: webhookArrives,
  seconds: () => 120,
  run: async (context) => {
    const { BusQueueUrl } = context.fakeProvider.outputs;
    if (BusQueueUrl === undefined) return skipped('not configured: the setting publishEvents is off');
    const { changesOf } = await followStream(context);
    const extractionId = await extract(context, requestOf('event-bus', { outcome: 'PARTIAL' }));
    const what = `the bus to deliver the outcome of ${extractionId}`;
    const body = await waitForMessage(context, BusQueueUrl, { what, fits: isSettlementOf(extractionId) });
    const { data } = (JSON.parse(body) as BusEvent).detail;
    const settled = () => changesOf(extractionId).find(({ event: { kind } }) => kind === 'settled')?.event;
    await context.until(
      `the stream to have the outcome of ${extractionId}`,
      async () => settled() !== undefined,
    );
    if (!isDeepStrictEqual(data, settled())) {
      throw new Unmet(
        `The bus and the stream differ in the outcome of ${extractionId}. Check publish-events.`,
      );
    }
    return passed(`the bus delivered the outcome of ${extractionId}, as the stream has it`);
  },
};

const bucketNames = async (s3: S3Client, Bucket: string, extractionId: string): Promise<boolean> => {
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
    for (const { Key } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      if ((await Body?.transformToString())?.includes(extractionId)) return true;
    }
  }
  return false;
};

/** The records of both extractions come together, so that Lambda has to split a batch. */
export const streamConsumer: Check = {
  id: 'stream-consumer',
  title: 'A consumer that fails on one record reads the others, and the failure bucket keeps that one',
  dependsOn: webhookArrives,
  seconds: () => 240,
  notOnEmulator: 'it splits no batches, and knows no bucket for failures',
  run: async (context) => {
    const { fakeProvider, client, startedAt, until } = context;
    const logGroup = fakeProvider.output('ConsumerLogGroup');
    const bucket = fakeProvider.output('ConsumerFailuresBucket');
    const request = requestOf('stream-consumer', {});
    const [failing, other] = await Promise.all([
      extract(context, { ...request, reference: failingReference }),
      extract(context, request),
    ]);
    await until(`the consumer of the stream to read ${other} (its log: ${logGroup})`, async () =>
      (await readLogLines(client, logGroup, startedAt)).some((line) => line.includes(other)),
    );
    const s3 = new S3Client(client);
    await until(`the bucket ${bucket} to keep the record of ${failing}`, () =>
      bucketNames(s3, bucket, failing),
    );
    return passed(`it read ${other}, and the bucket has the record of ${failing}`);
  },
};
