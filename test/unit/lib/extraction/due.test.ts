import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as due from '#lib/extraction/due.ts';
import { type Collecting, phaseOf } from '#lib/extraction/phase.ts';
import { at, extraction, extractionIn, iso, timings } from '../../../support/data/extraction-fixtures.ts';

const settled = phaseOf(extractionIn('COMPLETED', { settledAt: iso(0) })) as Collecting;

test.each([
  ['never sooner than the first pause', 0, 5],
  ['after a pause as long as the wait so far', 600, 1_200],
  ['never later than an hour', 50_000, 50_000 + 3_600],
  ['with each poll, past the time for collecting', 90_000, 90_120],
])('the next try to collect comes %s: at %i s, at %i s', (_when, now, next) => {
  expect(due.resultsAgain(settled, at(now), timings)).toBe(iso(next));
});

test('a claimed start leaves a later time unchanged', () => {
  const claimed = (dueAt: number) => due.claimedStart({ ...extraction(), dueAt: iso(dueAt) }, at(0), timings);
  expect([claimed(180), claimed(179)]).toEqual(['unchanged', iso(180)]);
  expect(due.attributes('id', 'unchanged')).toEqual({});
});

const sources = ['functions', 'lib', 'tools/cli'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`),
);

test.each([
  [
    'a `dueAt` is computed',
    'due',
    /\bdueAt(?:: string)? ?[:=] (?:plusSeconds|new Date)\b|\(now, pollEvery\)/,
  ],
  ['the item of a request is removed', 'request-data', /\brequests\.remove\(/],
])('%s in one file of the product: %s.ts', (_what, file, code) => {
  const found = sources.filter((path) => code.test(readFileSync(path, 'utf8')));
  expect(found).toEqual([`lib/extraction/${file}.ts`]);
});
