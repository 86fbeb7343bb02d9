import { ExpectedFailure } from '../../../../tools/local/expected-failure.ts';
import { type Run, startLocalSystem } from '../../../../tools/local/local-system.ts';
import { createLedger } from '../../ledger/create-ledger.ts';
import { extract, holdOpen, type LedgeredSystem } from './extract.ts';
import { forge } from './forge.ts';
import { readLogs } from './read-logs.ts';
import type { Measured, Path, Sample } from './sample.ts';

/**
 * How many extractions of each path are measured. Their counts are equal and only CPU time varies. The happy path, which
 * the target is about, has more. A polled one takes the wait and two polls of `settings`, 10 s.
 */
const runs: Readonly<Record<Path, number>> = { happy: 20, polled: 2, consent: 3 };

/** The first extractions use new processes and log in. They are run and not counted. */
const warmUps: Readonly<Record<Path, number>> = { happy: 5, polled: 0, consent: 1 };

/** Short waits for lost webhooks, and no scheduled sweep, which could run during a sample. */
const settings = {
  providerConnectTimeoutMs: '500',
  providerTimeoutMs: '500',
  startTimeoutSeconds: '5',
  webhookWaitSeconds: '6',
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

/** Deploys the app to a new emulator, runs every path, and returns the measurements. */
export const measure = async (run: Omit<Run, 'settings' | 'emulatorEnv'>): Promise<Measured> => {
  const { directory, show, signal } = run;
  const { ledger, emulatorEnv } = await createLedger(directory);
  const system = await startLocalSystem({
    ...run,
    settings,
    emulatorEnv,
  });
  const ledgered = { system, ledger, signal };
  const measured = async (path: Path, what: string, held: Pick<LedgeredSystem, 'held'> = {}) => {
    show.wait('run', `${runs[path]} extractions, ${what}`);
    return measurePath(path, { ...ledgered, ...held });
  };
  const polled = async (): Promise<readonly Sample[]> => {
    const { extractionId, finish } = await holdOpen(ledgered);
    return measured('polled', 'every webhook lost', { held: extractionId }).finally(finish);
  };
  const samples = {
    happy: await measured('happy', 'woken by the webhook'),
    polled: await polled(),
    consent: await measured('consent', 'by consent'),
  };
  const forged = await forge(ledgered);
  return {
    samples,
    forged,
    all: ledger.entries(),
    logs: await readLogs(system.emulator),
    outputs: system.outputs,
  };
};
