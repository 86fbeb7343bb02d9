import { readFileSync } from 'node:fs';

/** Reads a file of the repository, by its path in it. */
export const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The members of a union of string literals in a source file. */
const membersOf = (path: string, union: string): string[] => {
  const source = read(path);
  const start = source.indexOf(`export type ${union} =`);
  const body = source.slice(start, source.indexOf("';\n", start) + 1);
  return [...body.matchAll(/\| '(\w+)'/g)].map(([, name]) => name ?? '');
};

/** The names of all metrics. */
export const metricNames: readonly string[] = [
  ...membersOf('lib/extraction/extraction-metric.ts', 'ExtractionMetric'),
  ...membersOf('lib/webhook/receive-delivery.ts', 'WebhookMetric'),
  ...membersOf('lib/observability/metric-names.ts', 'ServiceMetric'),
];
