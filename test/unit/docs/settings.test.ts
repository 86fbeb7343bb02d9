import { expect, test } from 'vitest';
import { settingNames } from '../../../infra/config.ts';
import { settingsPage } from '../../../infra/settings-page.ts';

// `npm run docs:settings` writes the page.
test('docs/settings.md is what infra/config.ts describes', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../../docs/settings.md');
});

test('docs/settings.md has the values and a description of every setting', () => {
  const rows = settingsPage().match(/^\| `.*$/gm) ?? [];
  expect(rows.map((row) => row.split('`')[1])).toEqual([...settingNames]);
  expect(rows.filter((row) => row.includes('undefined'))).toEqual([]);
});
