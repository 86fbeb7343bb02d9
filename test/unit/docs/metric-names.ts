import { read } from './pages.ts';

const source = read('lib/observability/metric-names.ts');

/** The members of a union of string literals in the source. */
const membersOf = (union: string): string[] => {
  const start = source.indexOf(`export type ${union} =`);
  const body = source.slice(start, source.indexOf("';\n", start) + 1);
  return [...body.matchAll(/\| '(\w+)'/g)].map(([, name]) => name ?? '');
};

/** The names of all metrics. */
export const metricNames: readonly string[] = ['ExtractionMetric', 'WebhookMetric', 'ServiceMetric'].flatMap(
  membersOf,
);
