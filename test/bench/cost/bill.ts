import { reconcileCauses } from '#lib/extraction/reconcile-message.ts';
import type { Config } from '../../../infra/settings/config.ts';
import { type PriceName, prices } from '../../../tools/acceptance/checks/prices.ts';
import { randomOf } from '../../support/data/random.ts';
import {
  accessLogBytes,
  awsAnswerMs,
  callerBytes,
  coldStartShare,
  cpuRatio,
  longTaskSeconds,
  machineLogBytes,
  providerAnswerMs,
  providerBytes,
  resultsBytes,
  taskSeconds,
  thrownErrorBytes,
} from '../assumptions.ts';
import type { Call, Entry } from '../ledger/ledger.ts';
import type { Sample } from '../measured-system.ts';
import { quartiles } from '../quartiles.ts';
import { CannotBeCounted } from '../units/item-bytes.ts';
import type { Measured } from './measure.ts';

/** An item of the bill. Those that are no price are a part of the bill that the report shows apart. */
export type Item = PriceName | 'startAndEnd' | 'coldStart';

const priceOf: Readonly<Record<'startAndEnd' | 'coldStart', PriceName>> = {
  startAndEnd: 'transition',
  coldStart: 'armGigabyteSecond',
};

/** What an extraction is billed for, in units of the prices. */
type Quantities = Readonly<Partial<Record<Item, number>>>;

/** The cost of a million extractions in US dollars. Without items, of all. */
export const dollarsOf = (quantities: Quantities, items = Object.keys(quantities) as Item[]): number =>
  items.reduce((sum, item) => {
    const price = item === 'startAndEnd' || item === 'coldStart' ? priceOf[item] : item;
    return sum + (quantities[item] ?? 0) * prices[price].perMillion;
  }, 0);

const times = (quantities: Quantities, factor: number): Quantities =>
  Object.fromEntries(Object.entries(quantities).map(([item, quantity]) => [item, quantity * factor]));

export const add = (...all: readonly Quantities[]): Quantities => {
  const sum: Partial<Record<Item, number>> = {};
  for (const [item, quantity] of all.flatMap((one) => Object.entries(one) as [Item, number][]))
    sum[item] = (sum[item] ?? 0) + quantity;
  return sum;
};

const medianOf = <Value>(values: readonly Value[], of: (value: Value) => number): number =>
  quartiles(values.map(of))[1];

/** "At 1,769 MB, a function has the equivalent of one vCPU". Less memory has less CPU, and one thread uses one vCPU at most. */
const MB_OF_A_VCPU = 1_769;

/** How long an invocation waits for its calls on AWS. Of simultaneous calls only the longest counts. */
const waitedMs = (calls: readonly Call[]): number => {
  let [total, end, longest] = [0, Number.NEGATIVE_INFINITY, 0];
  for (const { service, startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    if (startedAt >= end) [total, longest] = [total + longest, 0];
    longest = Math.max(longest, service === 'provider' ? providerAnswerMs : awsAnswerMs);
    end = Math.max(end, endedAt);
  }
  return total + longest;
};

/**
 * The billed duration of an invocation in whole milliseconds: the waits for its calls, and its CPU time, which is longer with
 * less than one vCPU.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
export const billedMs = ({ calls, cpuMs, memoryMB }: Pick<Entry, 'calls' | 'cpuMs' | 'memoryMB'>): number =>
  Math.ceil((cpuMs * MB_OF_A_VCPU) / Math.min(memoryMB, MB_OF_A_VCPU) + waitedMs(calls));

const gigabyteSeconds = (memoryMB: number, milliseconds: number): number =>
  (memoryMB / 1_024) * (milliseconds / 1_000);

/**
 * By the names that AWS signs for, or such a name and the method. Step Functions bills transitions instead. Secrets Manager asks KMS at
 * each read (https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html).
 */
const requestPrices: Readonly<Record<string, readonly PriceName[]>> = {
  provider: [],
  states: [],
  lambda: [],
  kms: ['keyRequest'],
  secretsmanager: ['secretRead', 'keyRequest'],
  sqs: ['queueRequest'],
  events: ['busEvent'],
  's3 GET': ['get'],
  's3 PUT': ['put'],
};

const callQuantities = (call: Call, units: Measured['units']): Quantities => {
  const { service, operation } = call;
  if (service === 'dynamodb') {
    const counted = units.get(call);
    if (counted === undefined) throw new CannotBeCounted(`The units of ${operation} were not counted.`);
    return { writeUnit: counted.write + counted.index, readUnit: counted.read };
  }
  const name = [service, `${service} ${operation}`].find((one) => one in requestPrices);
  if (name === undefined) throw new CannotBeCounted(`${service} ${operation} has no price here.`);
  return Object.fromEntries((requestPrices[name] ?? []).map((price) => [price, 1]));
};

/** What prices invocations: the facts of the run. */
type Known = Pick<Measured, 'units' | 'logBytes'>;

/** Everything that AWS bills for one warm invocation. A GB of logs is 10^9 bytes here. If AWS bills 2^30, it is 7 % less. */
export const invocationQuantities = (entry: Entry, { units, logBytes }: Known): Quantities => {
  const logged = logBytes.get(entry.requestId);
  if (logged === undefined) throw new CannotBeCounted(`Nothing is known of the log of ${entry.requestId}.`);
  const isRequest = entry.routeKey !== undefined;
  // Lambda receives the message, and deletes it. The sender pays for sending it.
  const isMessage =
    entry.function === 'reconcile-extraction' && reconcileCauses.some((cause) => cause === entry.trigger);
  return add(
    {
      invocation: 1,
      armGigabyteSecond: gigabyteSeconds(entry.memoryMB, billedMs(entry)),
      httpRequest: isRequest ? 1 : 0,
      queueRequest: isMessage ? 2 : 0,
      logKilobyte: (logged + (isRequest ? accessLogBytes : 0)) / 1_000,
    },
    ...entry.calls.map((call) => callQuantities(call, units)),
  );
};

/**
 * What cold starts add to an invocation, for their share: `initMs` for Node's start and the loading of the bundle, and a first
 * invocation that connects, logs in, and runs code that is not compiled yet. Lambda gives the init phase about two vCPUs, whatever
 * the memory, so it takes its CPU time and no more
 * (https://bitesizedserverless.com/bite/when-is-the-lambda-init-phase-free-and-when-is-it-billed/; AWS does not document it).
 */
export const coldStartQuantities = (entry: Entry, all: readonly Entry[]): Quantities => {
  const firsts = all.filter(
    (one) =>
      one.function === entry.function && one.memoryMB === entry.memoryMB && one.initCpuMs !== undefined,
  );
  const cold = medianOf(firsts, ({ initCpuMs = 0 }) => initCpuMs) * cpuRatio + medianOf(firsts, billedMs);
  const secretReads = ({ calls }: Entry) =>
    calls.filter(({ service }) => service === 'secretsmanager').length;
  const reads = coldStartShare * medianOf(firsts, secretReads);
  return {
    coldStart: coldStartShare * Math.max(0, gigabyteSeconds(entry.memoryMB, cold - billedMs(entry))),
    secretRead: reads,
    keyRequest: reads,
  };
};

/** Each invocation with the median CPU time of its function, because a busy machine makes one vary. */
const withMedianCpu = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry) => ({
    ...entry,
    cpuMs: medianOf(
      entries.filter((one) => one.function === entry.function),
      ({ cpuMs }) => cpuMs,
    ),
  }));

/**
 * The transitions of an execution: "each time a step of your workflow is executed … including retries"
 * (https://aws.amazon.com/step-functions/pricing/), which does not state whether Start and End are steps. Its example counts them.
 */
export const machineQuantities = (history: readonly string[]): Quantities => {
  const count = (type: RegExp) => history.filter((one) => type.test(one)).length;
  const retries = count(/^(Task|LambdaFunction)Scheduled$/) - count(/^TaskStateEntered$/);
  return {
    transition: count(/StateEntered$/) + retries,
    startAndEnd: 2,
    logKilobyte: (machineLogBytes * count(/(Failed|TimedOut|Aborted)$/)) / 1_000,
  };
};

type Polling = Pick<Config, 'pollFirstSeconds' | 'pollEverySeconds' | 'pollBackoff'>;

/**
 * The mean number of polls of the machine that find the task running, over many random runs. The first poll is at 0, each next one a
 * pause and `pollSeconds` later, until the task ends. Pauses have full jitter: each is uniform from 0 to its maximum.
 */
export const pollsByMachine = (
  { pollFirstSeconds, pollEverySeconds, pollBackoff }: Polling,
  lastsSeconds: number,
  pollSeconds: number,
): number => {
  // So many that the mean varies by 0.002 of 14 polls.
  const runs = 1_000_000;
  const random = randomOf(1);
  let polls = 0;
  for (let run = 0; run < runs; run += 1) {
    let maxPause = pollFirstSeconds;
    for (let at = 0; at < lastsSeconds; polls += 1) {
      at += pollSeconds + random.next() * maxPause;
      maxPause = Math.min(maxPause * pollBackoff, pollEverySeconds);
    }
  }
  return polls / runs;
};

/**
 * The number of polls by the queue that find the task running: the first comes after the first interval, each next one after as long
 * as the task has run, up to the longest interval.
 */
export const pollsByQueue = (
  { pollFirstSeconds, pollEverySeconds }: Omit<Polling, 'pollBackoff'>,
  lastsSeconds: number,
): number => {
  let polls = 0;
  for (let at = pollFirstSeconds; at < lastsSeconds; at += Math.min(at, pollEverySeconds)) polls += 1;
  return polls;
};

type Retention = Pick<Config, 'recordRetentionDays' | 'resultsRetentionDays' | 'logRetentionDays'>;

/**
 * What is stored of an extraction until it expires, and what leaves AWS. DynamoDB adds 100 bytes to each item
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html). Logs are counted as they are
 * written, although they are stored compressed.
 */
export const storedQuantities = (
  bytes: Readonly<Record<'record' | 'task' | 'logs', number>>,
  { recordRetentionDays, resultsRetentionDays, logRetentionDays }: Retention,
): Quantities => {
  const gigabytes = (stored: number, days = 365 / 12) => (stored / 2 ** 30) * (days / (365 / 12));
  const record = gigabytes(bytes.record + 100, recordRetentionDays);
  return {
    // The items of Tasks are kept for 30 days (lib/aws/dynamo-task-store.ts).
    tableGigabyteMonth: record + gigabytes(bytes.task + 100, 30),
    backupGigabyteMonth: record,
    bucketGigabyteMonth: gigabytes(resultsBytes, resultsRetentionDays),
    logGigabyteMonth: gigabytes(bytes.logs, logRetentionDays),
    egressGigabyte: gigabytes(resultsBytes + callerBytes + providerBytes),
  };
};

/** The bill of the measured run at these settings, by path. */
export const billOf = (measured: Measured, config: Config) => {
  const { samples, machinePolls, queuePolls, bus, forged, all, units } = measured;
  const mean = (count: number, entries: readonly Entry[]): Quantities =>
    times(add(...withMedianCpu(entries).map((entry) => invocationQuantities(entry, measured))), 1 / count);
  const withColdStarts = (count: number, entries: readonly Entry[]): Quantities =>
    add(
      mean(count, entries),
      times(add(...withMedianCpu(entries).map((entry) => coldStartQuantities(entry, all))), 1 / count),
    );
  const largest = (table: string): number =>
    Math.max(
      ...samples.happy
        .flatMap(({ entries }) => entries.flatMap(({ calls }) => calls))
        .flatMap((call) => units.get(call) ?? [])
        .map((one) => (one.table === table ? one.bytes : 0)),
    );
  const path = (name: string, ofPath: readonly Sample[], polls: Quantities) => {
    const worked = add(
      // Each extraction has its results fetched through the presigned URL.
      { get: 1 },
      times(add(...ofPath.map(({ history }) => machineQuantities(history))), 1 / ofPath.length),
      withColdStarts(
        ofPath.length,
        ofPath.flatMap(({ entries }) => entries),
      ),
      polls,
    );
    const logs = 1_024 * (worked.logKilobyte ?? 0);
    const stored = storedQuantities({ record: largest('Extractions'), task: largest('Tasks'), logs }, config);
    return { name, quantities: add(worked, stored) };
  };
  const machinePoll = add(withColdStarts(machinePolls.length, machinePolls), {
    transition: 1,
    logKilobyte: (machineLogBytes + thrownErrorBytes) / 1_000,
  });
  const pollsAfterWait = pollsByMachine(
    config,
    longTaskSeconds - config.webhookWaitSeconds,
    providerAnswerMs / 1_000,
  );
  return {
    happy: path('happy', samples.happy, {}),
    polled: path('polled', samples.polled, {}),
    long: path(`polled, ${longTaskSeconds / 60} min`, samples.polled, times(machinePoll, pollsAfterWait)),
    consent: path(
      'consent',
      samples.consent,
      times(withColdStarts(queuePolls.length, queuePolls), pollsByQueue(config, taskSeconds)),
    ),
    /** What `publishEvents` adds. */
    bus: withColdStarts(bus.extractions, bus.invocations),
    /** Of one forged delivery. In a flood nearly all invocations are warm. */
    forged: mean(forged.length, forged),
  };
};
