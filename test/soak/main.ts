/**
 * `npm run soak`: the bundles for AWS on an emulator, under requests, a provider that fails and restarts, AWS calls that fail and
 * functions that are killed. Then calm, and an audit. The seed decides what happens and when. Which call a failure hits also
 * depends on the machine: a repeated run has the same storm, and not the same course.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LOCAL_STAGE } from '#lib/aws/stage.ts';
import { DEFAULT_CLIENT_ID } from '../../sandbox/sandbox.ts';
import { connect } from '../../tools/cli/aws/deployment.ts';
import { openExtractionIds } from '../../tools/cli/aws/read-extractions.ts';
import { breakersOf } from '../../tools/cli/aws/stores.ts';
import { explain } from '../../tools/cli/commands/explain.ts';
import { clearRate, setRate } from '../../tools/cli/operate/change-holds.ts';
import { CliError } from '../../tools/cli/terminal/errors.ts';
import { nodeShell } from '../../tools/cli/terminal/node-shell.ts';
import { type LocalSystem, shortTimes, startLocalSystem } from '../../tools/local/local-system.ts';
import { createRunDirectory, repository } from '../../tools/local/paths.ts';
import { createRunOutput } from '../../tools/local/run-output.ts';
import { saveFunctionLogs } from '../../tools/local/save-function-logs.ts';
import { faultsEnvironment } from '../e2e/injected-failures/preload-variables.ts';
import { moveTimesIn } from '../support/aws/move-times.ts';
import { runUntilStopped, type StoppableRun } from '../support/programs/run-until-stopped.ts';
import { drawStorm, type Storm } from './draw-storm.ts';
import { auditAll, compareWithProvider } from './find-problems.ts';
import { type Done, runStorm } from './run-storm.ts';

/** Timers of 500, 1000, 2000, 2500 and 5000 ms are those of calls to AWS, which `stretchAwsTimeouts` makes longer. */
const settings = {
  ...shortTimes,
  providerConnectTimeoutMs: '1500',
  providerTimeoutMs: '3000',
  startTimeoutSeconds: '18',
  breakerSlowCallSeconds: '3',
  breakerOpenSeconds: '4',
  breakerMaxOpenSeconds: '16',
  graceSeconds: '30',
  // For users whose start is refused for ever. Shorter than `calmMs`, in which they end.
  maxWaitSeconds: '300',
  collectForSeconds: '60',
};

/** `deadlineSeconds`, `machineSlackSeconds`, three sweeps, and a minute. An audit then finds what has no outcome. */
const calmMs = (120 + 30 + 3 * 60 + 60) * 1_000;

/**
 * In 30 minutes at 0.5 requests a second, and 0.4 starts, some 180 come into line: 450 s. Retries double that at most. What is still
 * open then is a finding, however slowly others ended meanwhile.
 */
const maxCalmMs = 3 * calmMs;

type OpenIds = () => Promise<readonly string[]>;

const command = (minutes: number, seed: number) => `npm run soak -- --minutes ${minutes} --seed ${seed}`;

const describe = ({ sent, failures }: Done, open: number): string => {
  const injected = failures.filter(({ planned }) => planned.wasInjected());
  const kills = injected.filter(({ isKill }) => isKill).length;
  const unanswered = sent.filter(({ extractionId }) => extractionId === undefined).length;
  return `${sent.length} requests (${unanswered} not accepted), ${open} extractions open, ${injected.length - kills} failures injected, ${kills} functions killed.`;
};

type Report = (done: Done) => Promise<void>;
type Where = Parameters<typeof runStorm>[3];

/** The storm, with a report a minute. Then all failures end. */
const storm = async (system: LocalSystem, drawn: Storm, report: Report, where: Where) => {
  const done: Done = { sent: [], failures: [] };
  const everyMinute = setInterval(() => void report(done).catch(() => undefined), 60_000);
  await runStorm(system, drawn, done, where).finally(() => clearInterval(everyMinute));
  await report(done);
  for (const { planned } of done.failures) await planned.cancel();
  return done.sent;
};

/**
 * Waits until nothing is open, or for so long in vain. A sweep leases a record for five minutes and more, and the message of a
 * killed function is hidden for longer. So what is open is made due every minute, and the sweep finds it by its own schedule.
 */
const calm = async (openIds: OpenIds, makeDue: (id: string) => Promise<unknown>, signal: AbortSignal) => {
  const until = Date.now() + maxCalmMs;
  let [open, closedAt] = [await openIds(), Date.now()];
  for (let tick = 1; open.length > 0 && Date.now() < Math.min(closedAt + calmMs, until); tick += 1) {
    if (tick % 30 === 0) await Promise.all(open.map(makeDue));
    await delay(2_000, undefined, { signal });
    const left = await openIds();
    if (left.length < open.length) closedAt = Date.now();
    open = left;
  }
  console.log(`Calm: ${open.length} extractions are open.`);
  return open;
};

const soak = async ({ stop: signal, atEnd }: StoppableRun, minutes: number, seed: number): Promise<void> => {
  const since = new Date();
  const directory = await createRunDirectory('soak', since);
  const emulatorEnv = await faultsEnvironment(directory);
  const show = createRunOutput(process.stdout, Date.now);
  const drawn = drawStorm(seed, minutes);
  const run = { directory, show, signal, emulatorEnv, atEnd, settings };
  const system = await startLocalSystem(run).finally(() => show.rest());
  const { startsPerSecond } = drawn;
  await system.provider.setRestrictions(DEFAULT_CLIENT_ID, { startsPerSecond, startsAtOnce: 5 });
  // An emulator that crashed has lost them.
  atEnd(() => saveFunctionLogs(system.emulator, join(directory, 'functions.log')).catch(() => undefined));
  const dynamo = new DynamoDBClient(system.emulator.client);
  const { ExtractionsTableName: table = '' } = system.outputs;
  const openIds = () => openExtractionIds(dynamo, table);
  const report: Report = async (done) => show.note('storm', describe(done, (await openIds()).length));
  const sent = await storm(system, drawn, report, { faults: emulatorEnv.COSECHA_FAULTS, signal });
  const restarts = drawn.troubles.filter((one) => 'restartSeconds' in one).length;
  console.log(`Restarts of the provider: ${restarts}. Its faults: ${drawn.troubles.length - restarts}.`);
  const calls = await system.provider.calls({ method: 'POST', path: '/api/v2/tasks' });
  const answered = (status: number): number => calls.filter((call) => call.status === status).length;
  console.log(
    `It takes ${startsPerSecond} starts a second: ${answered(200)} passed, ${answered(429)} refused.`,
  );
  const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client: system.emulator.client });
  // What operators do after it, as a failing provider teaches a low rate. All at once would be too many for the emulator.
  const [breakers, now] = [breakersOf(deployment), () => new Date()];
  const perSecond = Math.min(1, startsPerSecond);
  await clearRate(breakers, { now, newVersion: randomUUID });
  await setRate(breakers, { perSecond, reason: 'calm', since: Date.now() }, { now, newVersion: randomUUID });
  const makeDue = (id: string) => moveTimesIn(dynamo, table, id, { dueAt: new Date().toISOString() });
  const open = await calm(openIds, makeDue, signal);

  const problems = [
    ...(await compareWithProvider(system, sent, open)),
    ...(await auditAll(deployment, since)),
  ];
  // Now, as the emulator ends with this run.
  const context = { shell: nodeShell({ json: false }), connect: async () => deployment };
  const ids = new Set(problems.flatMap(({ extractionId }) => extractionId ?? []));
  for (const id of [...ids].slice(0, 3)) await explain(id, context);
  if (problems.length === 0) return;
  throw new CliError(
    `${problems.length} findings. Logs: ${directory}\nThe same storm: ${command(minutes, seed)}`,
  );
};

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const [minutes, seed] = [Number(values.minutes ?? 30), Number(values.seed ?? randomInt(1_000_000))];
await runUntilStopped(async (benchmark) => {
  if (!(minutes > 0 && Number.isInteger(seed)))
    throw new CliError('npm run soak -- --minutes <number> --seed <whole number>');
  console.log(`Seed ${seed}: ${command(minutes, seed)}`);
  await soak(benchmark, minutes, seed);
});
