import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { numberThat } from '../support/programs/number-that.ts';
import { formatTally } from './campaign/format-tally.ts';
import { keepSchedule } from './campaign/found-schedules.ts';
import { replay } from './campaign/replay.ts';
import { runCampaign } from './campaign/run-campaign.ts';
import { nameOf, showFinding } from './campaign/show-finding.ts';
import { invariants } from './invariants/all.ts';
import { crowdInvariants } from './many-extractions/crowd-invariants.ts';
import { printCrowds } from './many-extractions/crowds.ts';
import { mixInvariants, neighbourInvariants, outageInvariants } from './many-extractions/invariants.ts';
import { neighbourhoodInvariants } from './many-extractions/neighbours.ts';
import { printFigures, printFloods } from './many-extractions/print-figures.ts';
import { refusalInvariants } from './many-extractions/refused-credentials-invariants.ts';
import { type Judged, randomKinds, searchRandom, shrink, traceOf } from './many-extractions/search.ts';
import { sharedInvariants } from './many-extractions/shared-parts.ts';
import { runFaults } from './planted-faults/run-faults.ts';
import { scenarios } from './world/draw-scenario.ts';

const positive = numberThat((number) => number > 0, 'number above 0');
const whole = numberThat((number) => Number.isInteger(number) && number >= 0, 'whole number');

const options = new Command()
  .name('npm run simulate --')
  .description(
    'Runs the real code in every order of events, crashes and failures, and checks the invariants.',
  )
  .option('--minutes <number>', 'how long to search', positive, 10)
  .option('--seed <number>', 'the first seed of the random schedules', whole, Date.now() % 1_000_000)
  .option('--random', 'run nothing but what is drawn from the seeds')
  .option(
    '--replay <schedule>',
    'run one schedule and print its trace: seed-N, outage-N, population-N, refusal-N, neighbour-N, sharing-N, or scenario/step.index,…',
  )
  .option('--faults', 'run every planted fault; print the schedule that catches it')
  .option('--outages', 'print what outages of the provider take')
  .option(
    '--crowds [name]',
    "print what crowds cost at the provider's rate; with a name, those that contain it",
  )
  .option('--callers', 'print what one caller takes from another')
  .option('--invariants', 'print every invariant and its assumptions')
  .parse()
  .opts<{
    minutes: number;
    seed: number;
    random?: true;
    replay?: string;
    faults?: true;
    outages?: true;
    crowds?: true | string;
    callers?: true;
    invariants?: true;
  }>();

/** Runs one schedule and prints it. Returns whether every invariant held. */
const repeat = async (named: string): Promise<boolean> => {
  const { text, isBroken } = await replay(named);
  console.log(text);
  return !isBroken;
};

/** Prints a finding. The file of schedules keeps it, which every run of the tests repeats. */
const report = (named: string, text: string): void => {
  keepSchedule(named);
  console.log(`\n${text}\ntest/simulation/campaign/found-schedules.txt has it.`);
};

/** Searches populations for so long. Prints the smallest that breaks each invariant, and returns whether none does. */
const explorePopulations = async (ms: number, seed: number): Promise<boolean> => {
  const found = new Map<string, Judged>();
  let searched = 0;
  const searches = randomKinds.map((kind) => searchRandom(kind, seed, Number.POSITIVE_INFINITY));
  for (const search of searches) {
    const endsAt = performance.now() + ms / searches.length;
    for await (const judged of search) {
      searched += 1;
      const [violation] = judged.violations;
      if (violation !== undefined && !found.has(violation.invariant)) found.set(violation.invariant, judged);
      if (performance.now() >= endsAt) break;
    }
  }
  for (const judged of found.values()) {
    const smallest = await shrink(judged);
    report(smallest.found.name, traceOf(smallest));
  }
  console.log(
    `\n${found.size === 0 ? 'No invariant' : [...found.keys()].join(', ')} was broken in ${searched} populations.`,
  );
  return found.size === 0;
};

const explore = async (): Promise<boolean> => {
  const { minutes, seed, random = false } = options;
  const ms = minutes * 60_000;
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1_000;
  console.log(`Searches for ${minutes} minutes. The first seed is ${seed}.`);
  const tally = await runCampaign(
    availableParallelism(),
    {
      seed,
      isBounded: !random,
      pairsOf: scenarios.map(({ name }) => name),
      pairsMs: random ? 0 : ms / 3,
      seeds: Number.POSITIVE_INFINITY,
      seedsMs: random ? ms / 2 : ms / 3,
    },
    ({ done, schedules }) => console.log(`${seconds().toFixed(0).padStart(5)} s  ${schedules}: ${done}`),
  );
  console.log(formatTally(tally, seconds()));
  for (const finding of tally.findings) report(nameOf(finding), await showFinding(finding));
  const verdict = tally.findings.length === 0 ? 'No invariant' : 'An invariant';
  console.log(`\n${verdict} was broken in ${tally.schedules} schedules.`);
  const populations = await explorePopulations(random ? ms / 2 : ms / 3, seed);
  return tally.findings.length === 0 && populations;
};

const printInvariants = (): boolean => {
  for (const { name, rule, needs } of invariants) {
    console.log(`${name}: ${rule}${needs === undefined ? '' : `\n  Assumes: ${needs}`}`);
  }
  const ofPopulations = new Set([
    ...neighbourInvariants,
    ...mixInvariants,
    ...outageInvariants,
    ...refusalInvariants,
    ...crowdInvariants,
    ...neighbourhoodInvariants,
    ...sharedInvariants,
  ]);
  for (const { name, rule } of ofPopulations) console.log(`${name}: ${rule}`);
  return true;
};

const run = (): Promise<boolean> | boolean => {
  if (options.replay !== undefined) return repeat(options.replay);
  if (options.faults === true) return runFaults((line) => console.log(line));
  if (options.outages === true) return printFigures((line) => console.log(line)).then(() => true);
  if (options.crowds !== undefined)
    return printCrowds((line) => console.log(line), options.crowds === true ? '' : options.crowds);
  if (options.callers === true) return printFloods((line) => console.log(line)).then(() => true);
  return options.invariants === true ? printInvariants() : explore();
};

process.exitCode = (await run()) ? 0 : 1;
