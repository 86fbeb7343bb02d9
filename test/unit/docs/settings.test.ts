import { expect, test } from 'vitest';
import { settingNames } from '../../../infra/config.ts';
import { settingsPage } from '../../../infra/settings-page.ts';
import { settingsType } from '../../../infra/settings-type.ts';

// `npm run docs:settings` writes both files.
test('infra/cosecha-settings.ts is what infra/config.ts describes', async () => {
  await expect(settingsType()).toMatchFileSnapshot('../../../infra/cosecha-settings.ts');
});

test('docs/settings.md is what infra/config.ts describes', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../../docs/settings.md');
});

test('docs/settings.md has the values and a description of every setting', () => {
  const rows = settingsPage().match(/^\| `.*$/gm) ?? [];
  expect(rows.map((row) => row.split('`')[1])).toEqual([...settingNames]);
  expect(rows.filter((row) => row.includes('undefined'))).toEqual([]);
});
