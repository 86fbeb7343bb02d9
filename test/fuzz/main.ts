import { Command } from 'commander';
import { numberThat } from '../support/programs/number-that.ts';
import { properties, shareCases } from './properties.ts';
import { describeRun, type Run, runProperty } from './run-property.ts';

const numberFrom = (least: number) =>
  numberThat((number) => number >= least && Number.isFinite(number), `number from ${least}`);

// fast-check's seeds are 32-bit integers.
const [leastSeed, anySeed] = [-(2 ** 31), Math.floor(Math.random() * 2 ** 31)];

const command = new Command()
  .name('npm run fuzz --')
  .description('Looks for input that refutes a claim.')
  .option(
    '--cases <number>',
    'in all; each property gets its share, and the webhook at least two thirds',
    numberFrom(1),
    150_000,
  )
  .option(
    '--minutes <number>',
    'rounds of that many cases, each with another seed, until they are over',
    numberFrom(0),
    0,
  )
  .option('--only <name>', 'only the properties whose name contains it', '')
  .option('--seed <number>', 'of the first round; it is printed', numberFrom(leastSeed), anySeed)
  .option('--path <path>', 'with --only and --seed: only the failing case of that path')
  .parse();
const options = command.opts<{
  cases: number;
  minutes: number;
  only: string;
  seed: number;
  path?: string;
}>();
const isSeedGiven = command.getOptionValueSource('seed') === 'cli';
if (options.path !== undefined && (options.only === '' || !isSeedGiven))
  command.error('--path is of one property and one seed: give --only and --seed too.');

const chosen = properties.filter(({ name }) => name.includes(options.only));
if (chosen.length === 0) command.error(`No property's name contains ${options.only}.`);
const shares = shareCases(chosen, Math.floor(options.cases));

/**
 * Tries every property in turn, each with an even share of the time that is left, so that a short run leaves none
 * out; ends at the first failure, as a round more of it shows nothing new.
 */
const round = async (seed: number, until: number): Promise<readonly Run[]> => {
  const runs: Run[] = [];
  for (const [index, property] of chosen.entries()) {
    const share = Math.max((until - Date.now()) / (chosen.length - index), 1);
    const run = await runProperty(property, {
      seed,
      cases: shares.get(property.name) ?? 1,
      path: options.path,
      within: Number.isFinite(until) ? share : undefined,
    });
    console.log(describeRun(run));
    runs.push(run);
    if (run.failure !== undefined) break;
  }
  return runs;
};

const total = (runs: readonly Run[], part: string): string =>
  runs
    .filter(({ name }) => name.startsWith(part))
    .reduce((sum, { cases }) => sum + cases, 0)
    .toLocaleString('en');

const firstSeed = Math.trunc(options.seed);
console.log(`seed ${firstSeed}`);
const started = Date.now();
const until = options.minutes === 0 ? Number.POSITIVE_INFINITY : started + options.minutes * 60_000;
const runs: Run[] = [];
do {
  const seed = firstSeed + runs.length;
  if (runs.length > 0) console.log(`\nseed ${seed}`);
  runs.push(...(await round(seed, until)));
} while (options.minutes > 0 && Date.now() < until && runs.every(({ failure }) => failure === undefined));

const failed = runs.filter(({ failure, vacuous }) => failure !== undefined || vacuous.length > 0);
const seconds = ((Date.now() - started) / 1000).toFixed(0);
console.log(
  `\n${total(runs, '')} cases in ${seconds} s, ${total(runs, 'webhook/')} of them over the webhook: ` +
    (failed.length === 0 ? 'no claim refuted' : `refuted: ${failed.map(({ name }) => name).join(', ')}`),
);
if (failed.length > 0) process.exitCode = 1;
