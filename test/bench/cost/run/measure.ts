import { randomBytes, randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toEmulatorUrl } from '../../../../tools/cli/aws/local-deployment.ts';
import { ExpectedFailure } from '../../../../tools/local/expected-failure.ts';
import { type Run, shortTimes, startLocalSystem } from '../../../../tools/local/local-system.ts';
import type { Entry } from '../../ledger/entry.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { readTableSchemas, type Table } from '../../units/read-table-schemas.ts';
import { countLoggedBytes, type Logged } from './count-logged-bytes.ts';
import { extract, holdOpen, type LedgeredSystem, type Path, type Sample } from './extract.ts';

export type Measured = {
  readonly samples: Readonly<Record<Path, readonly Sample[]>>;
  /** Deliveries with a signature that none of our keys made. */
  readonly forged: readonly Entry[];
  /** Every invocation of the run in order, warm-up included, because items are followed through them. */
  readonly all: readonly Entry[];
  /** By the invocation's request id. */
  readonly logs: ReadonlyMap<string, Logged>;
  /** By the names that requests call them. */
  readonly tables: ReadonlyMap<string, Table>;
};

/**
 * How many extractions of each path are measured. Their counts are equal and only CPU time varies. The happy path, which
 * the target is about, has more. A polled one takes the wait and two polls of `settings`, 10 s.
 */
const runs: Readonly<Record<Path, number>> = { happy: 20, polled: 2, consent: 3 };

/** The first extractions use new processes and log in. They are run and not counted. */
const warmUps: Readonly<Record<Path, number>> = { happy: 5, polled: 0, consent: 1 };

/** Short waits for lost webhooks, and no scheduled sweep, which could run during a sample. */
const settings = {
  ...shortTimes,
  providerConnectTimeoutMs: '500',
  providerTimeoutMs: '500',
  startTimeoutSeconds: '6',
  webhookWaitSeconds: '7',
  pollFirstSeconds: '2',
  pollEverySeconds: '2',
  sweepEveryMinutes: '60',
  signingKeyRefreshSeconds: '15',
};

const measurePath = async (path: Path, ledgered: LedgeredSystem): Promise<readonly Sample[]> => {
  for (let left = warmUps[path]; left > 0; left -= 1) await extract(path, ledgered);
  const samples: Sample[] = [];
  for (let tries = 0; samples.length < runs[path]; tries += 1) {
    if (tries === 3 * runs[path])
      throw new ExpectedFailure('The machine is too busy to measure on: try again.');
    const sample = await extract(path, ledgered);
    // On a busy machine the emulator may start another process for an invocation.
    if (sample.entries.every(({ ordinal }) => ordinal > 1)) samples.push(sample);
  }
  return samples;
};

const forgedDeliveries = 20;

/** Sends deliveries with a signature of the right form that no key of ours made. Returns those that asked AWS nothing. */
const forge = async ({ system, ledger, signal }: LedgeredSystem): Promise<readonly Entry[]> => {
  const url = toEmulatorUrl(system.api.base, system.outputs.WebhookUrl ?? '');
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
  return forged.filter(({ ordinal, calls }) => ordinal > 1 && calls.length === 0);
};

/** Deploys the app to a new emulator, runs every path, and returns the measurements. */
export const measure = async (run: Omit<Run, 'settings' | 'emulatorEnv'>): Promise<Measured> => {
  const { directory, show, signal } = run;
  const { ledger, emulatorEnv } = createLedger(directory);
  const system = await startLocalSystem({ ...run, settings, emulatorEnv });
  const { emulator, outputs } = system;
  const ledgered = { system, ledger, signal };
  show.wait('run', `${runs.happy} extractions, woken by the webhook`);
  const happy = await measurePath('happy', ledgered);
  show.wait('run', `${runs.polled} extractions, every webhook lost`);
  const { extractionId, finish } = await holdOpen(ledgered);
  const polled = await measurePath('polled', { ...ledgered, held: extractionId }).finally(finish);
  show.wait('run', `${runs.consent} extractions, by consent`);
  const consent = await measurePath('consent', ledgered);
  return {
    samples: { happy, polled, consent },
    forged: await forge(ledgered),
    all: ledger.entries(),
    logs: await countLoggedBytes(emulator),
    tables: await readTableSchemas(new DynamoDBClient(emulator.client), outputs),
  };
};
