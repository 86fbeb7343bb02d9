/**
 * `npm run upgrade -- --from <commit>`: deploys that version, by default HEAD, to an emulator, then another one over it and the first one again, while
 * extractions are in many states. If it is not the version of today, that one once more. Everything has to end as it must, and an audit ends it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LOCAL_STAGE } from '#lib/aws/stage.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import {
  checkOutVersion,
  differsFromToday,
  laterStatus,
  laterThan,
} from '../../tools/acceptance/check-out-version.ts';
import { updateInPlace } from '../../tools/acceptance/checks/update-in-place.ts';
import { connect } from '../../tools/cli/aws/deployment.ts';
import { CliError } from '../../tools/cli/terminal/errors.ts';
import { type LocalSystem, shortTimes, startLocalSystem } from '../../tools/local/local-system.ts';
import { createRunDirectory, repository } from '../../tools/local/paths.ts';
import { createRunOutput } from '../../tools/local/run-output.ts';
import { auditAll, compareWithProvider } from '../soak/find-problems.ts';
import { runUntilStopped } from '../support/programs/run-until-stopped.ts';
import { briefCasesOf, casesOf } from './cases.ts';
import { extractionsOf, type One } from './extractions.ts';

/** Nothing passes a limit by itself. A start call hangs for 5 s, so its timeout is far longer. */
const settings = {
  ...shortTimes,
  providerTimeoutMs: '20000',
  startTimeoutSeconds: '90',
  webhookWaitSeconds: '180',
  breakerFailures: '1000',
  startWindowSeconds: '300',
  deadlineSeconds: '900',
  machineSlackSeconds: '60',
};

const directory = await createRunDirectory('upgrade', new Date());
const show = createRunOutput(process.stdout, Date.now);

/** Updates the system to a version while extractions are in every state, and waits until each has ended as it must. */
const upgrade = async (name: string, tree: string, local: LocalSystem): Promise<void> => {
  const system = extractionsOf(local);
  mkdirSync(join(directory, name));
  const all = await updateInPlace<One>({
    cases: casesOf(system),
    briefCases: briefCasesOf(system),
    request: () => system.requestWith({ durationMs: 500 }),
    update: (beforeDeploy) => local.deployOver({ tree, directory: join(directory, name), beforeDeploy }),
    closed: (one) => system.until(one, ({ dueShard }) => dueShard === undefined),
    waitFor: (what) => show.wait(name, what),
    sleep: delay,
  });
  const problems = await compareWithProvider(local, all);
  if (problems.length > 0) throw new CliError(`${problems.length} contradict the provider.`);
  const states = new Set(all.map(({ state }) => state)).size;
  show.done(name, `${all.length} extractions in ${states} states ended as they must`);
};

/** A record of the later version stays as it is under the version before, and goes on once it is understood again. */
const keepsUnknown = async (local: LocalSystem, goBack: () => Promise<void>): Promise<string> => {
  const system = extractionsOf(local);
  const one = await system.requestWith({ durationMs: null });
  const before = await system.linked(one);
  if (!('laterAttribute' in before)) throw new CliError('The later version does not run.');
  await system.setStatus(one, laterStatus);
  await goBack();
  await system.send({ extractionId: one.extractionId, cause: 'sweep' }, 'upgrade');
  const isDeferred = ({ status, dueAt }: Extraction) =>
    dueAt !== before.dueAt && status === (laterStatus as string);
  await system.until(one, isDeferred);
  await system.setStatus(one, 'RUNNING');
  await system.provider.finish(before.taskId ?? '', 'COMPLETED');
  await system.until(one, ({ status, dueShard }) => status === 'COMPLETED' && dueShard === undefined);
  return one.extractionId;
};

const { values } = parseArgs({ options: { from: { type: 'string' } } });
const from = values.from ?? 'HEAD';

await runUntilStopped(async ({ stop: signal, atEnd }) => {
  const since = new Date();
  const old = checkOutVersion(from, join(directory, 'old'));
  const isSecond = differsFromToday(from);
  const next = isSecond ? repository : laterThan(from, join(directory, 'next'));
  show.note('upgrade', `${from}, and then ${isSecond ? 'the files of today' : 'a later version of it'}`);
  const local = await startLocalSystem({ directory, show, signal, atEnd, settings, tree: old });
  await upgrade('forward', next, local);
  const back = () => upgrade('back', old, local);
  // Its status was changed by this program, and not by Cosecha.
  const changed = isSecond ? await back() : await keepsUnknown(local, back);
  // Today's audit need not read the settings of an earlier version.
  if (isSecond) await upgrade('again', next, local);
  const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client: local.emulator.client });
  const found = await auditAll(deployment, since);
  const problems = found.filter(({ extractionId }) => extractionId === undefined || extractionId !== changed);
  if (problems.length > 0) throw new CliError(`${problems.length} findings. Logs: ${directory}`);
  const except = found.length > 0 ? ', except the status that this program has set' : '';
  show.done('audit', `finds nothing${except}`);
}).finally(() => show.rest());
