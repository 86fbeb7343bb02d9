import { properties, shareCases } from './properties.ts';
import type { FuzzProperty } from './property.ts';
import { type Options, readOptions, UnusableOptions, usage } from './read-options.ts';
import { describeRun, type Run, runProperty } from './run-property.ts';

/**
 * Tries every property in turn, each with an even share of the time that is left, so that a short run leaves none
 * out; ends at the first failure, as a round more of it shows nothing new.
 */
const round = async (
  chosen: readonly FuzzProperty[],
  options: Options,
  until: number,
): Promise<readonly Run[]> => {
  const { seed, path } = options;
  const shares = shareCases(chosen, options.cases);
  const runs: Run[] = [];
  for (const [index, property] of chosen.entries()) {
    const share = Math.max((until - Date.now()) / (chosen.length - index), 1);
    const within = Number.isFinite(until) ? { within: share } : {};
    const run = await runProperty(property, {
      seed,
      cases: shares.get(property.name) ?? 1,
      ...(path === undefined ? {} : { path }),
      ...within,
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

const fuzz = async (options: Options): Promise<boolean> => {
  const chosen = properties.filter(({ name }) => name.includes(options.only ?? ''));
  if (chosen.length === 0) throw new UnusableOptions(`No property's name contains ${options.only}.`);
  console.log(`seed ${options.seed}`);
  const started = Date.now();
  const until = options.minutes === 0 ? Number.POSITIVE_INFINITY : started + options.minutes * 60_000;
  const runs: Run[] = [];
  do {
    const seed = options.seed + runs.length;
    if (runs.length > 0) console.log(`\nseed ${seed}`);
    runs.push(...(await round(chosen, { ...options, seed }, until)));
  } while (options.minutes > 0 && Date.now() < until && runs.every(({ failure }) => failure === undefined));

  const failed = runs.filter(({ failure, vacuous }) => failure !== undefined || vacuous.length > 0);
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  console.log(
    `\n${total(runs, '')} cases in ${seconds} s, ${total(runs, 'webhook/')} of them over the webhook: ` +
      (failed.length === 0 ? 'no claim refuted' : `refuted: ${failed.map(({ name }) => name).join(', ')}`),
  );
  return failed.length === 0;
};

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') console.log(usage);
  else if (!(await fuzz(options))) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof UnusableOptions)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 1;
}
