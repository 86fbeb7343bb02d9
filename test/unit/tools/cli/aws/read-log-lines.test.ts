import { expect, test } from 'vitest';
import { readLogLines } from '../../../../../tools/cli/aws/read-log-lines.ts';
import { iso } from '../../../../support/extraction-fixtures.ts';
import { logsClient } from '../../../../support/logs-client.ts';

const period = { from: iso(0), to: iso(10) };
const logged = (fields: object) => ({
  timestamp: Date.parse(iso(1)),
  message: JSON.stringify({
    service: 'start-task',
    level: 'INFO',
    message: 'Done.',
    timestamp: iso(1.5),
    ...fields,
  }),
});

test('only lines of the logger with one of the ids are kept, whatever the filter let through', async () => {
  const { client, sent } = logsClient(() => ({
    events: [
      logged({ extractionId: 'e-1' }),
      logged({ taskId: 't-1' }),
      logged({ recorded: { extractionId: 'e-1' } }),
      logged({ extractionId: 'other' }),
      { timestamp: 0, message: 'REPORT RequestId: e-1' },
      { timestamp: 0, message: JSON.stringify({ _aws: {}, extractionId: 'e-1' }) },
    ],
  }));
  const { items, complete } = await readLogLines(client, ['group'], ['e-1', 't-1'], period);
  expect(items.map(({ fields }) => fields)).toEqual([
    { extractionId: 'e-1' },
    { taskId: 't-1' },
    { recorded: { extractionId: 'e-1' } },
  ]);
  expect(items[0]).toMatchObject({ at: iso(1.5), service: 'start-task', level: 'INFO', message: 'Done.' });
  expect(complete).toBe(true);
  expect(sent[0]?.input.filterPattern).toBe(
    '{ ($.extractionId = "e-1") || ($.taskId = "e-1") || ($.recorded.extractionId = "e-1") || ($.extractionId = "t-1") || ($.taskId = "t-1") || ($.recorded.extractionId = "t-1") }',
  );
});

test('an id that could end the quotation of the pattern is left out of it', async () => {
  const { client, sent } = logsClient(() => ({ events: [] }));
  await readLogLines(client, ['group'], ['e-1', '" || $.x = "'], period);
  expect(sent[0]?.input.filterPattern).not.toContain('$.x');
});

test('a log group with more pages than are read is reported as incomplete', async () => {
  let page = 0;
  const { client } = logsClient(() => {
    page += 1;
    return { events: [], nextToken: String(page) };
  });
  expect((await readLogLines(client, ['group'], ['e-1'], period)).complete).toBe(false);
});
