import * as v from 'valibot';

// Apart from deadlines.ts, so that the webhook's bundle contains no valibot.

const seconds = v.pipe(v.number(), v.integer(), v.minValue(1));

const timingsSchema = v.strictObject({
  /** For how long after `requestedAt` a start may be tried. */
  startWindow: seconds,
  /** The timeout of start-task. A start attempt that is older is stale. */
  startTimeout: seconds,
  /** The timeout of reconcile-extraction. */
  reconcileTimeout: seconds,
  /** From `requestedAt` to `deadlineAt`. */
  deadline: seconds,
  /** For how long the execution runs beyond the deadline. */
  machineSlack: seconds,
  /** The first pause between two reads of a task, or two attempts to collect. */
  pollFirst: seconds,
  /** The longest pause between two reads of a running task. */
  pollEvery: seconds,
  /** For how long after settling results are tried to be collected, until `collectionError` is written. */
  collectFor: seconds,
  /** For how long after `TIMED_OUT` the provider is read for a correction. */
  grace: seconds,
  /** From the close until TTL removes the record. */
  recordRetention: seconds,
});

/** All in seconds. `infra/config.ts` validates the values, and has their defaults and reasons. */
export type Timings = Readonly<v.InferOutput<typeof timingsSchema>>;

/** Parses the environment variable `TIMINGS`. Throws a ValiError or SyntaxError if it is malformed. */
export const parseTimings = (json: string): Timings => v.parse(timingsSchema, JSON.parse(json));
