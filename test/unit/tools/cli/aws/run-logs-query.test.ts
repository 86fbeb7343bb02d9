import { expect, test } from 'vitest';
import { runLogsQuery } from '../../../../../tools/cli/aws/run-logs-query.ts';
import { stubLogsClient } from '../../../../support/aws/stub-logs-client.ts';
import { iso } from '../../../../support/data/extraction-fixtures.ts';

const query = { logGroupNames: ['a', 'b'], query: 'stats count(*)', from: iso(0), to: iso(60) };

/** A query that is in each of these states in turn. */
const run = async (...states: readonly object[]) => {
  const answers = [{ queryId: 'q' }, ...states];
  const { client, sent } = stubLogsClient(() => answers[Math.min(sent.length, answers.length) - 1]);
  const slept: number[] = [];
  const result = await runLogsQuery(client, query, async (milliseconds) => void slept.push(milliseconds));
  return { result, sent, slept };
};

test('a query is polled until it is complete, and its rows are texts by field', async () => {
  const row = [
    { field: 'subject', value: 'bank' },
    { field: 'lines', value: '3' },
  ];
  const { result, sent, slept } = await run(
    { status: 'Scheduled' },
    { status: 'Running', results: [row] },
    { status: 'Complete', results: [row] },
  );
  expect(result).toEqual({ items: [{ subject: 'bank', lines: '3' }], complete: true });
  const seconds = Date.parse(iso(0)) / 1_000;
  expect(sent[0]?.input).toMatchObject({ startTime: seconds, endTime: seconds + 60, limit: 10_000 });
  expect(slept).toHaveLength(2);
});

test('a result with as many rows as there can be is not complete', async () => {
  const results = Array.from({ length: 10_000 }, () => []);
  expect((await run({ status: 'Complete', results })).result.complete).toBe(false);
});

test.each([['Failed'], ['Cancelled'], ['Timeout']])(
  'a query that ended as %s is an error',
  async (status) => {
    await expect(run({ status })).rejects.toThrow(`The query of the logs ended as ${status}.`);
  },
);

test('a query that does not end is an error', async () => {
  await expect(run({ status: 'Running' })).rejects.toThrow('did not end within two minutes');
});
