import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The members of a union of string literals, as they stand in the source. */
const membersOf = (path: string, union: string): string[] => {
  const source = read(path);
  const start = source.indexOf(`export type ${union} =`);
  const body = source.slice(start, source.indexOf("';\n", start) + 1);
  return [...body.matchAll(/\| '(\w+)'/g)].map(([, name]) => name ?? '');
};

test('every metric that is counted is explained', () => {
  const counted = [
    ...membersOf('lib/extraction/observed.ts', 'Observed'),
    ...membersOf('lib/webhook/receive-delivery.ts', 'WebhookObserved'),
    ...membersOf('lib/observability/counted.ts', 'ServiceObserved'),
  ];
  expect(counted.length).toBeGreaterThan(25);
  const operations = read('docs/operations.md');
  expect(counted.filter((name) => !operations.includes(`\`${name}\``))).toEqual([]);
});
