import type { Run } from './run-property.ts';

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
