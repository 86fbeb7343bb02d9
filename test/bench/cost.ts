import { happyPath } from './happy-path.ts';

/** A share of the bill, in US dollars per million extractions. */
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
};

/** POST, GET and one delivery. */
const httpRequests = 3;

/**
 * GB-seconds of the five functions, warm: memory × billed time. Only AWS and the provider can tell the times;
 * assumed are 400 ms for each of the provider's two answers and 50 ms of our own for each function.
 */
const gigabyteSeconds = 0.5 * 0.05 + 0.5 * 0.45 + 0.5 * 0.05 + 1 * 0.45 + 0.5 * 0.05;

/** Five invocations at 1.2 KB: the platform's three lines, one or two of ours, the metrics. */
const logKilobytes = 6;

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
    { what: `CloudWatch Logs, ${logKilobytes} KB (assumed)`, dollars: logKilobytes * price.logKilobyte },
  ];
  const total = costs.reduce((sum, { dollars }) => sum + dollars, 0);
  return [
    ...costs,
    { what: 'all of it; wanted ≤ 85', dollars: total },
    { what: 'the same, should Start and End count as transitions', dollars: total + 2 * price.transition },
  ];
};
