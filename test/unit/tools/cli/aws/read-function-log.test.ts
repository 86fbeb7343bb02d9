import { expect, test } from 'vitest';
import { readFunctionLog } from '../../../../../tools/cli/aws/read-function-log.ts';
import { iso } from '../../../../support/extraction-fixtures.ts';
import { logsClient } from '../../../../support/logs-client.ts';

const log = { logGroupName: 'group', filterPattern: '', since: new Date(iso(0)) };
const idOf = (fields: Readonly<Record<string, unknown>>) => fields.id as string | undefined;
const logged = (id: string, second: number) => ({
  timestamp: Date.parse(iso(second)),
  message: JSON.stringify({ id }),
});

test('lines are newest first in whatever order they come, and those of one time stay as they came', async () => {
  const { client } = logsClient(() => ({
    events: [logged('old', 1), logged('new-1', 9), logged('new-2', 9), logged('middle', 5)],
  }));
  expect(await readFunctionLog(client, log, idOf)).toEqual({
    items: ['new-1', 'new-2', 'middle', 'old'],
    complete: true,
  });
});

test('of more lines than are read, the oldest are missing', async () => {
  const page = (second: number) => Array.from({ length: 3_000 }, () => logged(String(second), second));
  let second = 10;
  const { client, sent } = logsClient(() => {
    second -= 1;
    return { events: page(second), nextToken: String(second) };
  });
  const { items, complete } = await readFunctionLog(client, log, idOf);
  expect([new Set(items), complete]).toEqual([new Set(['9', '8']), false]);
  expect(sent.map(({ input }) => input.startFromHead)).toEqual([false, false]);
});

test('what is no line of the logger, or has nothing that is searched, is left out', async () => {
  const { client } = logsClient(() => ({
    events: [{ timestamp: 1, message: 'REPORT RequestId' }, { timestamp: 2, message: '{}' }, logged('a', 1)],
  }));
  expect((await readFunctionLog(client, log, idOf)).items).toEqual(['a']);
});
