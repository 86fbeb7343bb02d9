import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  type FilteredLogEvent,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { toEmulatorUrl } from '../../../tools/cli/aws/local-deployment.ts';
import { reconcileNow } from '../../../tools/cli/operate/invoke-functions.ts';
import { shortTimes } from '../../../tools/local/local-system.ts';
import type { Entry } from '../ledger/ledger.ts';
import {
  collects,
  type MeasuredSystem,
  type Path,
  publishes,
  runExtraction,
  runExtractions,
  type Sample,
  startExtraction,
} from '../measured-system.ts';
import { countUnits, readTables } from '../units/count-units.ts';

/** Shorter waits for lost webhooks, and a signing key that forged deliveries do not fetch each time. */
export const settings = {
  ...shortTimes,
  providerConnectTimeoutMs: '500',
  providerTimeoutMs: '500',
  startTimeoutSeconds: '6',
  webhookWaitSeconds: '7',
  signingKeyRefreshSeconds: '15',
  publishEvents: 'true',
};

/**
 * How many extractions of each path are measured. Their counts are equal and only CPU time varies. The happy path, which
 * the target is about, has more.
 */
const counted: Readonly<Record<Path, number>> = { happy: 20, polled: 3, consent: 4 };

/** Whether the queue found the task running, and sent itself the next message. */
const isPollOfQueue = ({ function: name, calls }: Entry): boolean =>
  name === 'reconcile-extraction' && calls.some(({ service }) => service === 'sqs');

/** The first poll of an extraction by consent. On AWS each creates a Task Token as this one, as another process makes it. */
const pollByConsent = async (system: MeasuredSystem): Promise<Entry | undefined> => {
  const { extractionId, finish } = await startExtraction(system, 'consent');
  const isPoll = (entry: Entry) => entry.extractionId === extractionId && isPollOfQueue(entry);
  const [poll] = await system.ledger.atLeast(1, isPoll, system.signal);
  await finish();
  return poll;
};

/**
 * Reads of a running task by the machine. The emulator ends a process whose invocation fails, as each of these does, so that an
 * operator's read warms up another one before.
 */
const pollsByMachine = async (system: MeasuredSystem): Promise<readonly Entry[]> => {
  const { emulator, outputs, ledger, signal } = system;
  const { extractionId, finish } = await startExtraction(system, 'polled');
  const [lambda, name] = [new LambdaClient(emulator.client), outputs.ReconcileFunctionName ?? ''];
  const isPoll = (entry: Entry) =>
    entry.extractionId === extractionId && entry.trigger === 'machine' && entry.initCpuMs === undefined;
  for (let left = 3; left > 0; left -= 1) {
    await reconcileNow(lambda, name, { trigger: 'operator', extractionId });
    await reconcileNow(lambda, name, { trigger: 'machine', extractionId }).catch(() => undefined);
  }
  const polls = await ledger.atLeast(2, isPoll, signal);
  await finish();
  return polls;
};

/** What publish-events did for all extractions so far, once each has its two events on the bus: `settled` and `collected`. */
const published = async ({ ledger, signal }: MeasuredSystem) => {
  const extractions = new Set(
    ledger
      .entries()
      .filter(collects)
      .map(({ extractionId }) => extractionId),
  ).size;
  for (;;) {
    const invocations = ledger.entries().filter(publishes);
    const events = invocations.flatMap(({ calls }) => calls).length;
    if (events >= 2 * extractions) return { extractions, events, invocations };
    await delay(500, undefined, { signal });
  }
};

const forgedDeliveries = 20;

/** Sends deliveries with a signature of the right form that no key of ours made. Returns those that asked AWS nothing. */
const forge = async ({ api, outputs, ledger, signal }: MeasuredSystem): Promise<readonly Entry[]> => {
  const url = toEmulatorUrl(api.base, outputs.WebhookUrl ?? '');
  const before = ledger.entries().length;
  for (let left = forgedDeliveries; left > 0; left -= 1) {
    const signature = `sha256=${randomBytes(32).toString('hex')}`;
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': signature },
      body: JSON.stringify({ taskId: randomUUID(), taskStatus: 'COMPLETED' }),
      signal,
    });
    if (status !== 401) throw new Error(`A forged delivery was answered ${status}, not 401.`);
  }
  // The others fetched a new key, which happens every 15 s at most.
  const forged = ledger.entries().slice(before);
  return forged.filter(({ initCpuMs, calls }) => initCpuMs === undefined && calls.length === 0);
};

/**
 * The bytes that each invocation logged, by request id, without Node's warnings about the preload. The emulator writes START, the
 * function's lines, END and REPORT of an invocation into one stream.
 */
const countLogBytes = async ({ emulator }: MeasuredSystem): Promise<ReadonlyMap<string, number>> => {
  const client = new CloudWatchLogsClient(emulator.client);
  const all: FilteredLogEvent[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, {})) {
    for (const { logGroupName } of logGroups) {
      for await (const { events = [] } of paginateFilterLogEvents({ client }, { logGroupName }))
        all.push(...events);
    }
  }
  return new Map(
    [...Map.groupBy(all, ({ logStreamName }) => logStreamName).values()].flatMap((events) => {
      const lines = events.map(({ message = '' }) => message);
      const [requestId] = lines.flatMap((line) => /^START RequestId: (\S+)/.exec(line)?.[1] ?? []);
      const own = lines.filter((line) => /^(\{|(START|END|REPORT) )/.test(line));
      return requestId === undefined ? [] : [[requestId, Buffer.byteLength(own.join('\n')) + 1] as const];
    }),
  );
};

export type Measured = Awaited<ReturnType<typeof measure>>;

/** Runs every path on the system. */
export const measure = async (system: MeasuredSystem) => {
  const say = (what: string) => console.error(`   measuring ${what}`);
  // The first ones use new processes and log in.
  for (let left = 5; left > 0; left -= 1) await runExtraction(system, 'happy');
  await runExtraction(system, 'consent');
  say('extractions woken by the webhook');
  const happy = await runExtractions(system, 'happy', counted.happy);
  say('extractions whose webhooks are lost');
  const polled = await runExtractions(system, 'polled', counted.polled);
  const machinePolls = await pollsByMachine(system);
  say('extractions by consent');
  const consent = await runExtractions(system, 'consent', counted.consent, (one) => !isPollOfQueue(one));
  const queuePolls = [await pollByConsent(system), await pollByConsent(system)].filter(
    (one) => one !== undefined,
  );
  const samples: Readonly<Record<Path, readonly Sample[]>> = { happy, polled, consent };
  say('events on the bus');
  const bus = await published(system);
  const forged = await forge(system);
  const all = system.ledger.entries();
  const { client } = system.emulator;
  return {
    samples,
    machinePolls,
    queuePolls,
    bus,
    forged,
    all,
    logBytes: await countLogBytes(system),
    units: countUnits(all, await readTables(new DynamoDBClient(client), system.outputs)),
  };
};
