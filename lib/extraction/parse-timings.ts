import * as v from 'valibot';

const seconds = v.pipe(v.number(), v.integer(), v.minValue(1));

const timingsSchema = v.strictObject({
  /** After `requestedAt`, how long a start may still be tried. */
  startWindow: seconds,
  /** The timeout of start-task's function: an attempt older than this is dead. */
  startTimeout: seconds,
  /** From `requestedAt` to `deadlineAt`. */
  deadline: seconds,
  /** What the machine outlives the deadline by. */
  machineSlack: seconds,
  /** Longest pause between two reads of a running task. */
  pollEvery: seconds,
  /** How long after settling the machine tries to collect, before that is the sweep's. */
  collectInMachine: seconds,
  /** How long results are fetched for before `collectionError` is written. */
  collectFor: seconds,
  /** How long after `TIMED_OUT` a correction is still looked for. */
  grace: seconds,
  /** From close to the row's removal by TTL. */
  recordRetention: seconds,
});

/** All in seconds. `infra/config.ts` validates the values; their defaults and reasons stand there. */
export type Timings = Readonly<v.InferOutput<typeof timingsSchema>>;

/** Reads the `TIMINGS` environment variable. Throws ValiError on a deployment that set it wrongly. */
export const parseTimings = (json: string): Timings => v.parse(timingsSchema, JSON.parse(json));
