import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { findScenario } from './campaign/find-scenario.ts';
import { formatTally } from './campaign/format-tally.ts';
import { runCampaign } from './campaign/run-campaign.ts';
import { runSeed } from './campaign/search-random.ts';
import { showFinding } from './campaign/show-finding.ts';
import { runFaults } from './faults/run-faults.ts';
import { runWorld } from './run-world.ts';
import { follow } from './scheduler/follow.ts';
import { parseSchedule } from './scheduler/schedule.ts';
import { traced } from './trace/trace.ts';
import { scenarios } from './world/scenarios.ts';

const positive = (text: string): number => {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('must be a number above 0');
  return number;
};

const whole = (text: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError('must be a whole number');
  return number;
};

const options = new Command()
  .name('npm run simulate --')
  .description(
    'Explores interleavings, crashes and failures of the real code, and holds them to the invariants.',
  )
  .option('--minutes <number>', 'how long', positive, 10)
  .option('--seed <number>', 'the first seed of the random schedules', whole, Date.now() % 1_000_000)
  .option('--replay <schedule>', 'run one schedule and print its trace: seed-N, or scenario/step.index,…')
  .option('--faults', 'run every deliberate fault and show what catches it')
  .parse()
  .opts<{ minutes: number; seed: number; replay?: string; faults?: true }>();

/** Runs one schedule and prints it. Returns whether every invariant held. */
const replay = async (named: string): Promise<boolean> => {
  const trace = traced();
  const [name = '', schedule] = named.split('/');
  const seed = /^seed-(\d+)$/.exec(name)?.[1];
  const { world, violation } =
    schedule === undefined && seed !== undefined
      ? (await runSeed(Number(seed), trace.listener)).ran
      : await runWorld(findScenario(name), follow(parseSchedule(schedule ?? '')), trace.listener);
  console.log(JSON.stringify(world.scenario));
  console.log(trace.text(world));
  console.log(
    violation === undefined ? 'Every invariant holds.' : `${violation.invariant}: ${violation.what}`,
  );
  return violation === undefined;
};

const explore = async (): Promise<boolean> => {
  const ms = options.minutes * 60_000;
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1_000;
  console.log(`Seeds from ${options.seed} on, for ${options.minutes} minutes.`);
  const tally = await runCampaign(
    availableParallelism(),
    {
      seed: options.seed,
      pairsOf: scenarios.map(({ name }) => name),
      pairsMs: ms / 2,
      seeds: Number.POSITIVE_INFINITY,
      seedsMs: ms / 2,
    },
    ({ done, schedules }) => console.log(`${seconds().toFixed(0).padStart(5)} s  ${schedules}: ${done}`),
  );
  console.log(formatTally(tally, seconds()));
  for (const finding of tally.findings) console.log(`\n${await showFinding(finding)}`);
  const verdict = tally.findings.length === 0 ? 'Nothing' : 'Something';
  console.log(`\n${verdict} was broken in ${tally.schedules} schedules.`);
  return tally.findings.length === 0;
};

const held =
  options.replay !== undefined
    ? await replay(options.replay)
    : options.faults === true
      ? await runFaults((line) => console.log(line))
      : await explore();
process.exitCode = held ? 0 : 1;
