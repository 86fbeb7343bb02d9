import { LambdaClient } from '@aws-sdk/client-lambda';
import { ExpectedFailure } from '../../../../infra/local/expected-failure.ts';
import { type Run, startLocalSystem } from '../../../../infra/local/local-system.ts';
import { sweepNow } from '../../../../lib/cli/aws/reconcile-function.ts';
import { createLedger } from '../../ledger/create-ledger.ts';
import { extract, type Scene } from './extract.ts';
import { forge } from './forge.ts';
import { readLogs } from './read-logs.ts';
import type { Measured, Path, Sample } from './sample.ts';

/**
 * How many extractions of each path are counted. Counts are the same in each; what varies is CPU time, of which the
 * happy path, by which the goal is held, gets more. A polled one takes the wait and two polls of `settings`, 10 s.
 */
const runs: Readonly<Record<Path, number>> = { happy: 20, polled: 2, consent: 3 };

/** The first ones meet new processes, logins and unwarmed code. They are run, and not counted. */
const warmUps: Readonly<Record<Path, number>> = { happy: 5, polled: 0, consent: 1 };

const sweeps = 5;

/** Short waits, so that a lost webhook is not waited for long; no sweep by itself, as it would fall into a sample. */
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

const measurePath = async (path: Path, scene: Scene): Promise<readonly Sample[]> => {
  for (let left = warmUps[path]; left > 0; left -= 1) await extract(path, scene);
  const samples: Sample[] = [];
  for (let tries = 0; samples.length < runs[path]; tries += 1) {
    if (tries === 3 * runs[path])
      throw new ExpectedFailure('The machine is too busy to measure on: try again.');
    const sample = await extract(path, scene);
    // On a busy machine an invocation may find its process late, and the emulator start another.
    if (sample.entries.every(({ ordinal }) => ordinal > 1)) samples.push(sample);
  }
  return samples;
};

const sweep = async ({ system: { emulator, outputs } }: Scene): Promise<void> => {
  const lambda = new LambdaClient(emulator.client);
  for (let left = sweeps; left > 0; left -= 1) await sweepNow(lambda, outputs.SweepFunctionName ?? '');
};

/** Deploys the app to an emulator of its own, takes every path through it, and returns what that took. */
export const measure = async (run: Omit<Run, 'settings' | 'emulatorEnv'>): Promise<Measured> => {
  const { directory, show, signal } = run;
  const { ledger, emulatorEnv } = await createLedger(directory);
  const system = await startLocalSystem({
    ...run,
    settings,
    emulatorEnv,
  });
  const scene = { system, ledger, signal };
  const measured = async (path: Path, what: string): Promise<readonly Sample[]> => {
    show.wait('run', `${runs[path]} extractions, ${what}`);
    return measurePath(path, scene);
  };
  const samples = {
    happy: await measured('happy', 'woken by the webhook'),
    polled: await measured('polled', 'every webhook lost'),
    consent: await measured('consent', 'by consent'),
  };
  await sweep(scene);
  const forged = await forge(scene);
  const all = ledger.entries();
  const swept = all.filter((entry) => entry.function === 'sweep-extractions');
  if (swept.length !== sweeps) throw new Error(`${swept.length} sweeps ran, not ${sweeps}.`);
  return {
    samples,
    // The first one opens connections.
    sweeps: swept.slice(1),
    forged,
    all,
    logs: await readLogs(system.emulator),
    outputs: system.outputs,
  };
};
