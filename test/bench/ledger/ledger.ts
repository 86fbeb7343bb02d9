import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { CliError } from '../../../tools/cli/terminal/errors.ts';

/** One request that a function made while it handled an invocation. Times are milliseconds since the epoch. */
export type Call = {
  /** The service in AWS's signature (`dynamodb`, `states`, `kms`, `s3`, …). `provider` for unsigned requests. */
  readonly service: string;
  /** `UpdateItem`, or the method, such as `PUT`, for a REST service. */
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly statusCode: number;
  /** The parsed bodies, for DynamoDB only: its units depend on them. */
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly answered?: Readonly<Record<string, unknown>>;
};

/** One invocation of a function, recorded by its process (`preload.ts`). */
export type Entry = {
  /** The function's name in logs, such as `start-task`. */
  readonly function: string;
  readonly memoryMB: number;
  readonly requestId: string;
  /** User and system time of the whole process from the event's arrival to the answer, in milliseconds. */
  readonly cpuMs: number;
  /** Of a process's first invocation: the CPU time until its event arrived, Node's start and the loading included. */
  readonly initCpuMs?: number;
  readonly endedAt: number;
  /** The event's route of the API, or its trigger: for a message of the queue, its cause. */
  readonly routeKey?: string;
  readonly trigger?: string;
  /** The extraction that the event or its message names. Absent if it came through the API. */
  readonly extractionId?: string;
  readonly calls: readonly Call[];
};

export type Ledger = {
  /** The invocations of all processes, in the order in which they ended. The same one is always the same object. */
  entries(): readonly Entry[];
  /** Waits for at least `count` entries that fit, and returns them. Rejects when `signal` aborts. */
  atLeast(count: number, fits: (entry: Entry) => boolean, signal: AbortSignal): Promise<readonly Entry[]>;
};

const readEveryMs = 50;

/** Reads what `preload.ts` writes into `directory`. */
const openLedger = (directory: string): Ledger => {
  const known = new Map<string, readonly Entry[]>();
  const readOn = (name: string): readonly Entry[] => {
    const before = known.get(name) ?? [];
    // The text after the last line break is still being written.
    const lines = readFileSync(join(directory, name), 'utf8').split('\n').slice(before.length, -1);
    const entries = [...before, ...lines.map((line) => JSON.parse(line) as Entry)];
    known.set(name, entries);
    return entries;
  };
  const entries = () =>
    readdirSync(directory)
      .flatMap(readOn)
      .sort((one, other) => one.endedAt - other.endedAt);
  const atLeast: Ledger['atLeast'] = async (count, fits, signal) => {
    for (;;) {
      const found = entries().filter(fits);
      if (found.length >= count) return found;
      await delay(readEveryMs, undefined, { signal });
    }
  };
  return { entries, atLeast };
};

/**
 * A ledger in the directory of a run, and the environment for its emulator that makes every function write there.
 *
 * @throws CliError if `AWS_ENDPOINT_URL` names a running emulator
 */
export const createLedger = (
  runDirectory: string,
): { ledger: Ledger; emulatorEnv: Record<string, string> } => {
  if (process.env.AWS_ENDPOINT_URL) {
    throw new CliError(
      'AWS_ENDPOINT_URL is set. Unset it: the functions record their calls only on a new emulator.',
    );
  }
  const directory = join(runDirectory, 'ledger');
  mkdirSync(directory);
  const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
  return {
    ledger: openLedger(directory),
    emulatorEnv: { COSECHA_LEDGER: directory, NODE_OPTIONS: `--import=${preload}` },
  };
};
