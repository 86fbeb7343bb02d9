import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** docs/provider-coverage.md against the tests that it names. */

const at = (path: string): URL => new URL(`../../../../${path}`, import.meta.url);

/**
 * The sections of the provider's document, which is not in this repository, with the number of rules and table
 * rows in each. "Not shown" is not one section: it counts what the document says that of.
 */
const sections: readonly (readonly [heading: string, rules: number])[] = [
  ['What the service does', 6],
  ['Product identifiers', 2],
  ['Entity types', 1],
  ['Consent', 8],
  ['OTP token record', 2],
  ['Task Token', 1],
  ['v1 consent-based task', 5],
  ['Product data item shapes', 3],
  ['v2 task', 13],
  ['v2 task request', 7],
  ['Credentials', 3],
  ['Encryption scheme', 5],
  ['Entity listing item', 1],
  ['User status by entity', 1],
  ['States: Consent', 2],
  ['States: v1 consent-based task', 2],
  ['States: v1 legacy task statuses', 1],
  ['States: v2 task', 10],
  ['Session token', 3],
  ['Create OTP token', 8],
  ['Create Task Token', 3],
  ['List consents', 6],
  ['Get consent', 1],
  ['Consent PDF', 1],
  ['Revoke consent', 2],
  ['Start extraction (v1)', 3],
  ['Poll extraction (v1)', 3],
  ['Retrieve data, synchronous', 2],
  ['v2 consent-based extraction', 3],
  ['Start task (v2)', 1],
  ['Read task (v2)', 2],
  ['Legacy v1 task API', 4],
  ['Sandbox behaviours', 18],
  ['Authentication: mechanisms', 4],
  ['Authentication: rules', 4],
  ['Events', 9],
  ['Errors: v2 task-level outcomes', 1],
  ['Errors: action error codes', 6],
  ['Errors: HTTP', 2],
  ['Errors: presets of POST /api/v1/tasks', 5],
  ['Errors: presets of GET /api/v1/tasks/{taskId}', 3],
  ['Errors: consent-based rules', 2],
  ['Limits: table', 12],
  ['Limits: rules', 3],
  ['Versioning', 5],
  ['Not shown', 31],
];

type Row = { readonly section: string; readonly line: string; readonly tests: readonly string[] };

const rows: readonly Row[] = readFileSync(at('docs/provider-coverage.md'), 'utf8')
  .split(/^## /m)
  .slice(1)
  .flatMap((part) => {
    const [section = '', ...lines] = part.split('\n');
    // The first two lines of a table are its head.
    const table = lines.filter((line) => line.startsWith('|')).slice(2);
    return table.map((line) => ({
      section,
      line,
      tests: (line.split(' | ').at(-1) ?? '').replace(/ \|$/, '').split('<br>'),
    }));
  });

/** The statements of a file of the conformance suite, as their names stand in it. */
const statementsOf = (name: string): readonly string[] => {
  const file = at(`test/conformance/${name}.test.ts`);
  if (!existsSync(file)) return [];
  const calls = readFileSync(file, 'utf8').matchAll(/\bstatement\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)")/g);
  return [...calls].map(([, single, double]) => single ?? double ?? '');
};

const named = new Set(rows.flatMap(({ tests }) => tests));

test.each(rows)('$section: $line', ({ tests }) => {
  for (const name of tests) {
    const [file = '', statement = ''] = name.split(' › ');
    expect(statementsOf(file), name).toContain(statement);
  }
});

test.each(sections)('%s has a row for each of its %i rules', (heading, rules) => {
  expect(rows.filter(({ section }) => section === heading)).toHaveLength(rules);
});

test('every statement of the conformance suite stands in a row', () => {
  const files = readdirSync(at('test/conformance')).filter((name) => name.endsWith('.test.ts'));
  const all = files.flatMap((name) => {
    const file = name.replace('.test.ts', '');
    return statementsOf(file).map((statement) => `${file} › ${statement}`);
  });
  expect(all.length).toBeGreaterThan(0);
  expect(all.filter((name) => !named.has(name))).toEqual([]);
});
