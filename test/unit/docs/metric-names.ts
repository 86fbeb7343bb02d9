import { readFileSync } from 'node:fs';

/** A file of the repository, by its path in it. */
export const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The members of a union of string literals, as they stand in the source. */
const membersOf = (path: string, union: string): string[] => {
  const source = read(path);
  const start = source.indexOf(`export type ${union} =`);
  const body = source.slice(start, source.indexOf("';\n", start) + 1);
  return [...body.matchAll(/\| '(\w+)'/g)].map(([, name]) => name ?? '');
};

/** The name of everything that the code can count. */
export const metricNames: readonly string[] = [
  ...membersOf('lib/extraction/extraction-metric.ts', 'ExtractionMetric'),
  ...membersOf('lib/webhook/receive-delivery.ts', 'WebhookMetric'),
  ...membersOf('lib/observability/metric-names.ts', 'ServiceMetric'),
];
