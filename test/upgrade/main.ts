/**
 * `npm run upgrade -- --from <commit> [--all]`: deploys that version to an emulator, then another one over it and the first one again,
 * while extractions are in many states. With `--all`, the other one once more. Everything has to end as it must, and an audit ends it.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { connect } from '../../tools/cli/aws/deployment.ts';
import { ExpectedFailure } from '../../tools/local/expected-failure.ts';
import { type LocalSystem, shortTimes, startLocalSystem } from '../../tools/local/local-system.ts';
import { createRunDirectory, repository } from '../../tools/local/paths.ts';
import { createRunOutput } from '../../tools/local/run-output.ts';
import { runBenchmark } from '../bench/run-benchmark.ts';
import { auditAll, compareWithProvider } from '../soak/find-problems.ts';
import { type Case, cases, unlessKilled } from './cases.ts';
import { checkOutVersion, differsFromToday, laterStatus, laterThan } from './check-out-version.ts';
import { type Extractions, extractionsOf, type One } from './extractions.ts';

/** Nothing passes a limit by itself, and a start call may hang for 5 s. */
const settings = {
  ...shortTimes,
  ...{ providerTimeoutMs: '6000', startTimeoutSeconds: '30', webhookWaitSeconds: '180' },
  ...{
    startWindowSeconds: '300',
    deadlineSeconds: '900',
    machineSlackSeconds: '60',
    breakerFailures: '1000',
  },
};

const directory = await createRunDirectory('upgrade', new Date());
const show = createRunOutput(process.stdout, Date.now);

/** Waits until it is closed, and returns its status. */
const check = async (system: Extractions, one: One, state: string, ends: Case['ends']): Promise<string> => {
  const record = await system.until(one, `closed (${state})`, ({ dueShard }) => dueShard === undefined);
  if (ends(record)) return record.status;
  throw new ExpectedFailure(`${one.extractionId} (${state}) ended as ${record.status}.`);
};

/** Brings extractions into every state, deploys a version over them, and waits until each has ended as it must. */
const upgradeTo = async (name: string, tree: string, local: LocalSystem): Promise<void> => {
  const system = extractionsOf(local);
  const bring = (isBrief: boolean) =>
    Object.entries(cases).flatMap(([state, one]) =>
      (one.isBrief === true) === isBrief ? [one.bring(system).then((it) => ({ ...one, state, it }))] : [],
    );
  show.wait(name, 'bringing extractions into their states');
  const brought = await Promise.all(bring(false));
  show.wait(name, 'deploying, under requests and deliveries');
  let isOver = false;
  const others: One[] = [];
  const requesting = (async () => {
    for (; !isOver; await delay(300)) others.push(await system.requestWith({ durationMs: 500 }));
  })();
  mkdirSync(join(directory, name));
  const beforeDeploy = async () => void brought.push(...(await Promise.all(bring(true))));
  await local.deployOver({ tree, directory: join(directory, name), beforeDeploy });
  // Some requests of the new code alone.
  await delay(3_000);
  isOver = true;
  await requesting;
  show.wait(name, 'waiting until everything has ended');
  await Promise.all(brought.map(({ goOn, it }) => goOn?.(system, it)));
  const ended = brought.map(
    async ({ it, state, ends }) => `${state}: ${await check(system, it, state, ends)}`,
  );
  for (const line of await Promise.all(ended)) show.note(name, line);
  await Promise.all(others.map((one) => check(system, one, 'requested meanwhile', unlessKilled)));
  const problems = await compareWithProvider(local, [...brought.map(({ it }) => it), ...others]);
  if (problems.length > 0) throw new ExpectedFailure(`${problems.length} contradict the provider.`);
  show.done(name, `${brought.length} extractions ended as they must, and ${others.length} of meanwhile`);
};

/** A record of the later version stays as it is under the version before, and goes on once it is understood again. */
const keepsUnknown = async (local: LocalSystem, goBack: () => Promise<void>): Promise<string> => {
  const system = extractionsOf(local);
  const one = await system.requestWith({ durationMs: null });
  const before = await system.linked(one);
  if (!('laterAttribute' in before)) throw new ExpectedFailure('The later version does not run.');
  await system.setStatus(one, laterStatus);
  await goBack();
  await system.send({ extractionId: one.extractionId, cause: 'sweep' });
  await system.until(
    one,
    'deferred as it is',
    ({ status, dueAt }) => dueAt !== before.dueAt && status === (laterStatus as string),
  );
  await system.setStatus(one, 'RUNNING');
  await system.provider.finish(before.taskId ?? '', 'COMPLETED');
  await check(system, one, 'of the later version', ({ status }) => status === 'COMPLETED');
  return one.extractionId;
};

const { values } = parseArgs({ options: { from: { type: 'string' }, all: { type: 'boolean' } } });
const from = values.from ?? readFileSync(join(repository, 'test/releases/0.1.0/commit'), 'utf8').trim();

await runBenchmark(async ({ stop: signal, atEnd }) => {
  const since = new Date();
  const old = checkOutVersion(from, join(directory, 'old'));
  const isSecond = differsFromToday(from);
  const next = isSecond ? repository : laterThan(from, join(directory, 'next'));
  show.note('upgrade', `${from}, and then ${isSecond ? 'the files of today' : 'a later version of it'}`);
  const local = await startLocalSystem({ directory, show, signal, atEnd, settings, tree: old });
  await upgradeTo('forward', next, local);
  const back = () => upgradeTo('back', old, local);
  // Its status was changed by this program, and not by Cosecha.
  const changed = isSecond ? await back() : await keepsUnknown(local, back);
  if (values.all) await upgradeTo('again', next, local);
  const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client: local.emulator.client });
  const found = await auditAll(deployment, since);
  const problems = found.filter(({ extractionId }) => extractionId === undefined || extractionId !== changed);
  if (problems.length > 0) throw new ExpectedFailure(`${problems.length} findings. Logs: ${directory}`);
  const except = found.length > 0 ? ', except the status that this program has set' : '';
  show.done('audit', `finds nothing${except}`);
}).finally(() => show.rest());
