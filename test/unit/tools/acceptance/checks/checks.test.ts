import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checks, chooseChecks } from '../../../../../tools/acceptance/checks/checks.ts';

const page = readFileSync(new URL('../../../../../docs/acceptance.md', import.meta.url), 'utf8');

test('docs/acceptance.md has the table of the checks', () => {
  const rows = checks.map(({ id, title, notOnEmulator }) => {
    const emulator = notOnEmulator === undefined ? 'yes' : `skipped: ${notOnEmulator}`;
    return `| \`${id}\` | ${title} | ${emulator} |`;
  });
  const table = ['| id | shows | on an emulator |', '| --- | --- | --- |', ...rows].join('\n');
  expect(page).toContain(`${table}\n\n`);
});

test('the ids are unique', () => {
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
});

test('--only chooses checks in the order of the table, and refuses an unknown one', () => {
  expect(chooseChecks(['erase', 'start-busy']).map(({ id }) => id)).toEqual(['start-busy', 'erase']);
  expect(chooseChecks(undefined)).toBe(checks);
  expect(() => chooseChecks(['erase', 'nonsense'])).toThrow(
    'There is no check nonsense. The checks: outcomes-plain,',
  );
});
