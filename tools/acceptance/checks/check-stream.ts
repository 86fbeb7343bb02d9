import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
import { openStream, type StreamRecord } from '../../cli/aws/follow-stream.ts';
import { signDelivery } from '../../cli/operate/delivery.ts';
import { type Check, passed, skipped, webhookArrives } from './check.ts';
import { deliver } from './check-deliveries.ts';
import type { AcceptContext } from './context.ts';
import { extract, readUntil, requestOf } from './extractions.ts';
import { Unmet } from './unmet.ts';

/** How many webhooks are timed. */
const timedWebhooks = 5;

type Seen = { readonly kind: string; readonly at: number };

/** Follows the stream, and keeps the kinds of changes of each extraction, with the time when they were seen. */
const followStream = async ({ client, deployment, signal, now }: AcceptContext) => {
  const changes = new Map<string, Seen[]>();
  const problems: string[] = [];
  const streams = new DynamoDBStreamsClient(client);
  const records = await openStream(streams, deployment.output('ExtractionsStreamArn'), signal);
  const add = (record: StreamRecord): void => {
    const event = decodeExtractionEvent(record);
    if (event.kind === 'not-ours') problems.push(event.problem);
    else {
      const before = changes.get(event.extractionId) ?? [];
      changes.set(event.extractionId, [...before, { kind: event.kind, at: now().getTime() }]);
    }
  };
  const following = (async () => {
    for await (const record of records) add(record);
  })();
  // It ends with the check, by an AbortError. Any other error shows as records that do not come.
  following.catch(() => undefined);
  return { changesOf: (id: string) => changes.get(id) ?? [], problems };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** In this order; the service's own changes in between are left out. */
const expectedKinds = ['requested', 'progressed', 'settled', 'collected'];

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
      const extractionId = await extract(context, requestOf('stream', { webhook: 'lost' }));
      const { taskId = '' } = await readUntil(
        context,
        extractionId,
        'RUNNING',
        ({ taskId: id }) => id !== undefined,
      );
      const payload = { taskId, taskStatus: 'COMPLETED' };
      const { body, signature } = signDelivery(payload, context.fakeProvider.keys().signingKey, {
        encrypted: true,
      });
      const sentAt = context.now().getTime();
      await deliver(context, body, signature);
      context.waitFor(`the stream to have the end of ${extractionId}`);
      while (!changesOf(extractionId).some(({ kind }) => kind === 'collected')) await context.sleep(50);
      const kinds = [...new Set(changesOf(extractionId).map(({ kind }) => kind))];
      const inOrder = kinds.filter((kind) => expectedKinds.includes(kind));
      if (inOrder.join() !== expectedKinds.join()) {
        throw new Unmet(
          `The stream had ${kinds.join(', ')} of ${extractionId}. Check the stream of the table.`,
        );
      }
      const settled = changesOf(extractionId).find(({ kind }) => kind === 'settled');
      latencies.push((settled?.at ?? 0) - sentAt);
    }
    if (problems.length > 0) throw new Unmet(`The stream has records that cannot be read: ${problems[0]}`);
    const [fastest, slowest] = [Math.min(...latencies), Math.max(...latencies)];
    return passed(
      `from sending a webhook to its stream record, seen from here: median ${median(latencies)} ms, ${fastest} to ${slowest} ms of ${timedWebhooks}`,
    );
  },
};

/** The event of the bus carries the record of the stream in `detail`. */
const isSettlementOf =
  (extractionId: string) =>
  (body: string): boolean => {
    if (!body.includes(extractionId)) return false;
    const { detail } = JSON.parse(body) as { readonly detail: StreamRecord };
    return decodeExtractionEvent(detail).kind === 'settled';
  };

export const fanOut: Check = {
  id: 'fan-out',
  title: 'The pipe puts an outcome on the event bus, and a rule of the bus delivers it',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: () => 120,
  notOnEmulator: 'its pipes do not read streams as those of EventBridge do',
  run: async (context) => {
    const inbox = context.inbox('FanOutQueueUrl');
    if (inbox === undefined) return skipped('not configured: the setting fanOutToEventBus is off');
    const extractionId = await extract(context, requestOf('fan-out', { outcome: 'PARTIAL' }));
    context.waitFor(`the bus to deliver the outcome of ${extractionId}`);
    await inbox.until(context, isSettlementOf(extractionId));
    return passed(`the bus delivered the outcome of ${extractionId}`);
  },
};
