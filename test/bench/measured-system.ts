import { randomUUID } from 'node:crypto';
import { SFNClient } from '@aws-sdk/client-sfn';
import { executionArn } from '#lib/aws/step-functions.ts';
import type { PublicExtraction } from '#lib/extraction/api/public-view.ts';
import { newNationalId } from '../../sandbox/consents/national-id.ts';
import { type LocalSystem, startLocalSystem } from '../../tools/local/local-system.ts';
import { createRunDirectory } from '../../tools/local/paths.ts';
import { createRunOutput } from '../../tools/local/run-output.ts';
import { wholeHistory } from '../support/aws/follow-execution.ts';
import type { StoppableRun } from '../support/programs/run-until-stopped.ts';
import { prepareRequest, request } from './benchmark-request.ts';
import { createLedger, type Entry, type Ledger } from './ledger/ledger.ts';

/** The app on a new emulator, the sandbox as its provider, and a ledger in which every function records its calls. */
export type MeasuredSystem = LocalSystem & {
  readonly ledger: Ledger;
  /** Aborts at Ctrl-C, and half an hour after the start. */
  readonly signal: AbortSignal;
};

const deadlineMs = 1_800_000;

/** Deploys the app to a new emulator. Throws CliError if `AWS_ENDPOINT_URL` is set. */
export const startMeasuredSystem = async (
  { stop, atEnd }: StoppableRun,
  settings: Readonly<Record<string, string>>,
): Promise<MeasuredSystem> => {
  const directory = await createRunDirectory('bench', new Date());
  const { ledger, emulatorEnv } = createLedger(directory);
  const show = createRunOutput(process.stderr, Date.now);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(deadlineMs)]);
  const system = await startLocalSystem({
    directory,
    show,
    signal,
    atEnd,
    // Without a scheduled sweep, which could run during a measurement.
    settings: { ...settings, sweepEveryMinutes: '60' },
    emulatorEnv,
    // The emulator's first processes may take over 5 s for a delivery, which would then be repeated.
    sandbox: { attemptTimeoutMs: 60_000 },
  }).finally(() => show.rest());
  return { ...system, ledger, signal };
};

/** `polled`: every webhook is lost, and the machine reads once. */
export type Path = 'happy' | 'polled' | 'consent';

/** A request for a task that `finish` ends. By consent, each user is another, so that each needs a Task Token. */
const order = async ({ provider }: MeasuredSystem, path: Path) => {
  const byConsent = path === 'consent';
  const username = byConsent ? newNationalId() : randomUUID();
  const lost = path === 'polled' ? { webhook: { drop: [1, 2, 3, 4, 5] } } : {};
  const body = await prepareRequest(provider, { username, byConsent }, { durationMs: null, ...lost });
  const finish = async () => {
    const [task] = await (byConsent ? provider.polledTasks({ username }) : provider.tasks({ username }));
    return byConsent ? provider.finishPolled(task?.taskId ?? '') : provider.finish(task?.taskId ?? '');
  };
  return { body, finish };
};

const isOf = (extractionId: string) => (entry: Entry) => entry.extractionId === extractionId;

/** The invocation that stores the results may come after the machine has ended. */
export const collects = ({ calls }: Entry): boolean => calls.some(({ service }) => service === 's3');

/** It reads the stream, so that it may come whenever it likes. */
export const publishes = (entry: Entry): boolean => entry.function === 'publish-events';

/** Starts an extraction whose task runs until `finish`, which waits until the results are stored. */
export const startExtraction = async (system: MeasuredSystem, path: Path) => {
  const { api, ledger, signal } = system;
  const { body, finish } = await order(system, path);
  const extractionId = await request(api, body, signal);
  const isOwn = isOf(extractionId);
  await ledger.atLeast(1, (entry) => isOwn(entry) && entry.function === 'start-task', signal);
  return {
    extractionId,
    finish: async () => {
      await finish();
      await ledger.atLeast(1, (entry) => isOwn(entry) && collects(entry), signal);
    },
  };
};

/** One extraction, from its request until its caller has the results: its invocations, and the types of its execution's events. */
export type Sample = { readonly entries: readonly Entry[]; readonly history: readonly string[] };

const settledBy: Readonly<Record<Path, string>> = {
  happy: 'webhook',
  polled: 'reconcile',
  consent: 'reconcile',
};

/** Runs one extraction. Through the API comes nothing else meanwhile, so what names no extraction is of this one. */
export const runExtraction = async (system: MeasuredSystem, path: Path): Promise<Sample> => {
  const { api, emulator, outputs, ledger, signal } = system;
  const before = new Set(ledger.entries());
  const { extractionId, finish } = await startExtraction(system, path);
  await finish();
  const arn = executionArn(outputs.StateMachineArn ?? '', extractionId);
  const history = await wholeHistory(new SFNClient(emulator.client), arn, signal);
  const read = await api.fetch(`${api.base}/extractions/${extractionId}`, { signal });
  const view = (await read.json()) as PublicExtraction;
  if (view.status !== 'COMPLETED' || view.settledBy !== settledBy[path] || view.results === undefined) {
    throw new Error(`The ${path} path ended ${view.status}, settled by ${view.settledBy}: run it again.`);
  }
  return {
    history: history.map(({ type = '' }) => type),
    entries: ledger
      .entries()
      .filter((entry) => !before.has(entry) && !publishes(entry))
      .filter((entry) => [undefined, extractionId].includes(entry.extractionId)),
  };
};

/** Runs so many extractions whose invocations fit. Throws where the machine is too busy for that. */
export const runExtractions = async (
  system: MeasuredSystem,
  path: Path,
  count: number,
  fits: (entry: Entry) => boolean = () => true,
): Promise<readonly Sample[]> => {
  const samples: Sample[] = [];
  for (let tries = 0; samples.length < count; tries += 1) {
    if (tries > 3 * count) throw new Error('The machine is too busy to measure on: try again.');
    const sample = await runExtraction(system, path);
    // On a busy machine the emulator may start another process for an invocation. Secrets are read once per process and hour.
    const isWarm = ({ initCpuMs, calls }: Entry) =>
      initCpuMs === undefined && calls.every(({ service }) => service !== 'secretsmanager');
    if (sample.entries.every((entry) => isWarm(entry) && fits(entry))) samples.push(sample);
  }
  return samples;
};
