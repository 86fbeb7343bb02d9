import { expect, test } from 'vitest';
import { consoleOver, denied, sourcesWith } from '../../../../support/console-fixtures.ts';
import { extractionIn, id } from '../../../../support/extraction-fixtures.ts';

test('the page has the record as `cosecha get` prints it, escaped and without its fingerprint', async () => {
  const record = extractionIn('RUNNING', { reference: '<b>mine</b>' });
  const page = await consoleOver(sourcesWith([record])).text(`/extractions/${id}`);
  expect(page).toContain('<dt>taskId</dt><dd>task-1</dd>');
  expect(page).toContain('&lt;b&gt;mine&lt;/b&gt;');
  expect(page).not.toContain(record.fingerprint);
});

test('an unknown extraction and an unknown page are 404', async () => {
  const { get } = consoleOver(sourcesWith([]));
  expect((await get(`/extractions/${id}`)).status).toBe(404);
  for (const path of ['/extractions/none', '/nothing', '/assets/app.ts']) {
    expect((await get(path)).status).toBe(404);
  }
});

test('a missing permission is named', async () => {
  const { text } = consoleOver(sourcesWith([], { record: () => denied('dynamodb:GetItem') }));
  expect(await text(`/extractions/${id}`)).toContain('The record: not shown.');
});
