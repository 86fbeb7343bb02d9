import fc from 'fast-check';
import { defined } from '#lib/defined.ts';
import type { FuzzProperty } from './property.ts';

export type Run = {
  readonly name: string;
  readonly seed: number;
  readonly cases: number;
  readonly seconds: number;
  /** How many cases bore each label, the most frequent first. After a failure, also those on the way to the smallest. */
  readonly seen: readonly (readonly [label: string, times: number])[];
  /** Expected labels that too few cases bore. */
  readonly vacuous: readonly string[];
  /** Undefined where no case refuted the claim. */
  readonly failure?: {
    readonly replay: string;
    readonly counterexample: string;
    readonly error: string;
  };
};

type RunOptions = {
  readonly seed: number;
  readonly cases: number;
  /** Of a failure before: only that case, as fast-check shrank it. */
  readonly path?: string | undefined;
  /** Whether a failure is made as small as can be. */
  readonly shrink?: boolean;
  /** Stops early, in milliseconds. */
  readonly within?: number | undefined;
};

/** What chance may leave out of so many: four standard deviations, once in some 30,000 runs. */
const least = (share: number, cases: number): number => share * cases - 4 * Math.sqrt(share * cases);

const tooRare = ({ expected }: FuzzProperty, seen: ReadonlyMap<string, number>, cases: number): string[] =>
  Object.entries(expected).flatMap(([label, share]) => {
    const times = seen.get(label) ?? 0;
    return times < least(share, cases) ? [`${label} in ${times} of ${cases}`] : [];
  });

const describeError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** Looks for a case that refutes the claim. */
export const runProperty = async (property: FuzzProperty, options: RunOptions): Promise<Run> => {
  const { seed, cases, path, within, shrink = true } = options;
  const seen = new Map<string, number>();
  const started = performance.now();
  const see = (label: string) => void seen.set(label, (seen.get(label) ?? 0) + 1);
  const details = await fc.check(
    fc.asyncProperty(property.cases, (one) => property.check(one, see)),
    {
      seed,
      numRuns: cases,
      endOnFailure: path !== undefined || !shrink,
      ...defined({ path, interruptAfterTimeLimit: within }),
    },
  );
  const seconds = (performance.now() - started) / 1000;
  const run = {
    name: property.name,
    seed,
    cases: details.numRuns,
    seconds,
    seen: [...seen].sort(([, one], [, other]) => other - one),
  };
  if (!details.failed || details.counterexamplePath === null) {
    return { ...run, vacuous: path === undefined ? tooRare(property, seen, details.numRuns) : [] };
  }
  return {
    ...run,
    vacuous: [],
    failure: {
      replay: `npm run fuzz -- --only ${property.name} --seed ${details.seed} --path ${details.counterexamplePath}`,
      counterexample: fc.stringify(details.counterexample),
      error: describeError(details.errorInstance),
    },
  };
};

const count = new Intl.NumberFormat('en');
const shown = (value: number): string => count.format(Math.round(value));

/** Enough to see what the cases were about; a generator may have dozens of labels. */
const labelsShown = 12;

/** One line of figures, one of what the cases were about and, of a failure, everything that replays it. */
export const describeRun = (run: Run): string => {
  const figures = `${shown(run.cases)} cases, ${shown(run.cases / Math.max(run.seconds, 0.001))}/s`;
  const labels = run.seen.slice(0, labelsShown).map(([label, times]) => `${label} ${shown(times)}`);
  const more = run.seen.length - labels.length;
  const lines = [
    `${run.failure === undefined && run.vacuous.length === 0 ? '✔' : '✘'} ${run.name.padEnd(36)} ${figures}`,
    `    ${labels.join(' · ')}${more > 0 ? ` · ${more} more` : ''}`,
    ...(run.vacuous.length > 0 ? [`    next to nothing was tested of: ${run.vacuous.join(', ')}`] : []),
  ];
  if (run.failure === undefined) return lines.join('\n');
  const { replay, counterexample, error } = run.failure;
  return [...lines, `    replay: ${replay}`, `    counterexample: ${counterexample}`, error].join('\n');
};
