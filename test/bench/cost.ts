import { openShards } from '../../lib/extraction/open-shard.ts';
import { happyPath } from './happy-path.ts';

/** A share of the bill, in US dollars: per million extractions, or a month. */
export type Cost = { readonly what: string; readonly dollars: number };

/** List prices of us-east-1 in US dollars per million, without free tiers (the services' pricing pages, 2026). */
const price = {
  httpApiRequest: 1,
  transition: 25,
  invocation: 0.2,
  /** Per million GB-seconds on arm64. */
  gigabyteSecond: 13.3334,
  writeUnit: 0.625,
  readUnit: 0.125,
  kmsRequest: 3,
  putRequest: 5,
  /** Per million KB: $0.50 a GB. */
  logKilobyte: 0.5,
  /** $0.05 per 10,000. */
  secretRead: 5,
};

/** A month, in US dollars. */
const monthly = { secret: 0.4, key: 1 };

/** POST, GET and one delivery. */
const httpRequests = 3;

/**
 * GB-seconds of the five functions, warm: memory × billed time. Only AWS and the provider can tell the times;
 * assumed are 400 ms for each of the provider's two answers and 50 ms of our own for each function.
 */
const gigabyteSeconds = 0.5 * 0.05 + 0.5 * 0.45 + 0.5 * 0.05 + 1 * 0.45 + 0.5 * 0.05;

/** Five invocations at 1.2 KB: the platform's three lines, one or two of ours, the metrics. */
const logKilobytes = 6;

/** A line of the API's access log for each request, at some 0.4 KB: ids, times, the caller's ARN. */
const accessLogKilobytes = httpRequests * 0.4;

/** What a million 60-second extractions cost on the happy path. `transitions` once without Start and End, once with. */
export const costPerMillion = async (): Promise<readonly Cost[]> => {
  const usage = await happyPath();
  const costs = [
    {
      what: `Step Functions, ${usage.transitions} transitions`,
      dollars: usage.transitions * price.transition,
    },
    { what: `HTTP API, ${httpRequests} requests`, dollars: httpRequests * price.httpApiRequest },
    {
      what: `Lambda, ${usage.invocations} invocations, ${gigabyteSeconds.toFixed(2)} GB-s (assumed)`,
      dollars: usage.invocations * price.invocation + gigabyteSeconds * price.gigabyteSecond,
    },
    {
      what: `DynamoDB, ${usage.writeUnits} write units (index included), ${usage.readUnits} read units`,
      dollars: usage.writeUnits * price.writeUnit + usage.readUnits * price.readUnit,
    },
    { what: `KMS, ${usage.kmsRequests} requests`, dollars: usage.kmsRequests * price.kmsRequest },
    { what: `S3, ${usage.putRequests} PUT`, dollars: usage.putRequests * price.putRequest },
    {
      what: `CloudWatch Logs, ${logKilobytes} KB of the functions (assumed)`,
      dollars: logKilobytes * price.logKilobyte,
    },
    {
      what: `CloudWatch Logs, ${accessLogKilobytes.toFixed(1)} KB of the API's access log (assumed)`,
      dollars: accessLogKilobytes * price.logKilobyte,
    },
  ];
  const total = costs.reduce((sum, { dollars }) => sum + dollars, 0);
  return [
    ...costs,
    { what: 'all of these; wanted ≤ 85', dollars: total },
    { what: 'the same, should Start and End count as transitions', dollars: total + 2 * price.transition },
  ];
};

/** So many of them are in 30 days; a sweep is in each, by default. */
const fiveMinutes = (30 * 24 * 60) / 5;

/**
 * What a month costs whatever is extracted, beside alarms, dashboard and metrics (docs/operations.md, "What it
 * costs"). Of a sweep that finds nothing due: a query of half a read unit for each shard, 1.5 KB of logs, and assumed
 * are 300 ms at 1 GB. A process reads both signing keys every five minutes for as long as deliveries keep it busy; the
 * API key is read for each login, once an hour.
 */
export const costPerMonth = (): readonly Cost[] => {
  const ofSweep =
    price.invocation +
    0.3 * price.gigabyteSecond +
    (openShards / 2) * price.readUnit +
    1.5 * price.logKilobyte;
  return [
    {
      what: `Sweeps, ${fiveMinutes} that find nothing due (assumed)`,
      dollars: (fiveMinutes * ofSweep) / 1_000_000,
    },
    { what: 'Secrets Manager, three secrets', dollars: 3 * monthly.secret },
    {
      what: 'Secrets Manager, the reads of each process of the webhook that is always busy',
      dollars: (2 * fiveMinutes * price.secretRead) / 1_000_000,
    },
    { what: 'KMS, two keys', dollars: 2 * monthly.key },
  ];
};

/** What neither has, as it cannot be counted here. */
export const leftOut =
  'storage, traffic, what is read of results, the KMS requests that tables, bucket and logs make with their key, and whatever is tried again';
