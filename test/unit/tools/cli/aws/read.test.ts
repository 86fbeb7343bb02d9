import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { fail, stubClient } from '#support/aws/stub-client.ts';
import { at, closedExtraction, extractionIn, id, iso } from '#support/data/extraction-fixtures.ts';
import type { Deployment } from '#tools/cli/aws/deployment.ts';
import { identityOf } from '#tools/cli/aws/identity.ts';
import { linesWithMessage, readFunctionLog } from '#tools/cli/aws/logs.ts';
import { readExecution } from '#tools/cli/aws/read-execution.ts';
import { readLogLines } from '#tools/cli/aws/read-log-lines.ts';
import { readMachineSettings } from '#tools/cli/aws/read-machine-settings.ts';
import { runLogsQuery } from '#tools/cli/aws/run-logs-query.ts';
import { requireResults } from '#tools/cli/aws/stores.ts';
import { CliError } from '#tools/cli/terminal/errors.ts';
import { extractionMachineDefinition } from '../../../../../infra/extraction-machine-definition.ts';

const machine = (answer: () => unknown) => stubClient<SFNClient>(answer, SFNClient);
const stubLogsClient = (answer: () => unknown) =>
  stubClient<CloudWatchLogsClient>(answer, CloudWatchLogsClient);

test('a history is read without inputs and outputs, and an error without its stack', async () => {
  const cause = JSON.stringify({ errorType: 'NotYet', errorMessage: 'still-running', trace: ['secret'] });
  const scheduled = { parameters: 'secret', timeoutInSeconds: 600 };
  const events = [
    { type: 'ExecutionStarted', executionStartedEventDetails: { input: 'secret' } },
    { type: 'TaskStateEntered', stateEnteredEventDetails: { name: 'StartTask' } },
    { type: 'TaskScheduled', taskScheduledEventDetails: scheduled },
    { type: 'TaskFailed', taskFailedEventDetails: { error: 'NotYet', cause } },
    { type: 'TaskTimedOut', taskTimedOutEventDetails: { error: 'States.Timeout' } },
  ];
  const { client, sent } = machine(() => ({
    events: events.map((event, index) => ({ ...event, timestamp: at(index) })),
  }));
  expect(await readExecution(client, 'arn')).toEqual({
    startedAt: iso(0),
    events: [
      { at: iso(0), type: 'ExecutionStarted' },
      { at: iso(1), type: 'TaskStateEntered', state: 'StartTask' },
      { at: iso(2), type: 'TaskScheduled', timeoutSeconds: 600 },
      { at: iso(3), type: 'TaskFailed', error: 'NotYet', message: 'still-running' },
      { at: iso(4), type: 'TaskTimedOut', error: 'States.Timeout' },
    ],
  });
  expect(sent[0]?.input).toMatchObject({ includeExecutionData: false });
});

test('an execution that does not exist has no history', async () => {
  const { client } = machine(() => fail(new ExecutionDoesNotExist({ message: '', $metadata: {} })));
  expect(await readExecution(client, 'arn')).toBeUndefined();
});

const log = { logGroupName: 'group', filterPattern: '', since: new Date(iso(0)) };
const idOf = (fields: Readonly<Record<string, unknown>>) => fields.id as string | undefined;
const logged = (id: string, second: number) => ({
  timestamp: at(second).getTime(),
  message: JSON.stringify({ id }),
});

test('lines are newest first in whatever order they come, and those of one time stay as they came', async () => {
  const { client } = stubLogsClient(() => ({
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
  const { client, sent } = stubLogsClient(() => {
    second -= 1;
    return { events: page(second), nextToken: String(second) };
  });
  const { items, complete } = await readFunctionLog(client, log, idOf);
  expect([new Set(items), complete]).toEqual([new Set(['9', '8']), false]);
  expect(sent.map(({ input }) => input.startFromHead)).toEqual([false, false]);
});

test('lines with a message are read hour by hour, to the last page, and each once', async () => {
  const line = (message: string) => ({
    timestamp: 1,
    message: JSON.stringify({ message, extractionId: id }),
  });
  const events = [line('Done.'), line('Other.')];
  const pages = [{ nextToken: 'more' }, { events }, { events: events.slice(0, 1) }];
  const { client, sent } = stubLogsClient(() => pages.shift() ?? {});
  const period = { from: iso(0), to: iso(5_400) };
  const lines: unknown[] = [];
  for await (const one of linesWithMessage(client, 'log', 'Done.', period, false)) lines.push(one);
  expect(lines).toEqual([1, 2].map(() => ({ message: 'Done.', extractionId: id })));
  const firstHour = [at(0).getTime(), at(3_600).getTime() - 1];
  const rest = [at(3_600).getTime(), at(5_400).getTime() - 1];
  expect(sent.map(({ input }) => [input.startTime, input.endTime])).toEqual([firstHour, firstHour, rest]);
});

describe('read-log-lines', () => {
  const period = { from: iso(0), to: iso(10) };
  const line = { service: 'start-task', level: 'INFO', message: 'Done.', timestamp: iso(1.5) };
  const logged = (fields: object) => ({
    timestamp: at(1).getTime(),
    message: JSON.stringify({ ...line, ...fields }),
  });

  test('only lines of the logger with one of the ids are kept, whatever the filter let through', async () => {
    const kept = [{ extractionId: 'e-1' }, { taskId: 't-1' }, { recorded: { extractionId: 'e-1' } }];
    const other = ['REPORT RequestId: e-1', JSON.stringify({ _aws: {}, extractionId: 'e-1' })];
    const { client, sent } = stubLogsClient(() => ({
      events: [
        ...[...kept, { extractionId: 'other' }].map(logged),
        ...other.map((message) => ({ timestamp: 0, message })),
      ],
    }));
    const { items, complete } = await readLogLines(client, ['group'], ['e-1', 't-1'], period);
    expect(items.map(({ fields }) => fields)).toEqual(kept);
    expect(items[0]).toMatchObject({ at: iso(1.5), service: 'start-task', level: 'INFO', message: 'Done.' });
    expect(complete).toBe(true);
    expect(sent[0]?.input.filterPattern).toBe(
      '{ ($.extractionId = "e-1") || ($.taskId = "e-1") || ($.recorded.extractionId = "e-1") || ($.extractionId = "t-1") || ($.taskId = "t-1") || ($.recorded.extractionId = "t-1") }',
    );
  });

  test('an id that could end the quotation of the pattern is left out of it', async () => {
    const { client, sent } = stubLogsClient(() => ({ events: [] }));
    await readLogLines(client, ['group'], ['e-1', '" || $.x = "'], period);
    expect(sent[0]?.input.filterPattern).not.toContain('$.x');
  });

  test('a log group with more pages than are read is reported as incomplete', async () => {
    let page = 0;
    const { client } = stubLogsClient(() => {
      page += 1;
      return { events: [], nextToken: String(page) };
    });
    expect((await readLogLines(client, ['group'], ['e-1'], period)).complete).toBe(false);
  });
});

const describing = (definition: string) => stubClient<SFNClient>(() => ({ definition })).client;

test('the times of the machine are those of its definition', async () => {
  const times = {
    startWindowSeconds: 900,
    maxWaitSeconds: 21_600,
    startTimeoutSeconds: 90,
    deadlineSeconds: 7_200,
    machineSlackSeconds: 900,
    startRetryFirstSeconds: 4,
    startRetryEverySeconds: 60,
    webhookWaitSeconds: 600,
    pollFirstSeconds: 5,
    pollEverySeconds: 120,
    pollBackoff: 3,
    providerTimeoutMs: 20_000,
  };
  const definition = extractionMachineDefinition(times, {
    startTask: 'start',
    reconcile: 'reconcile',
    startLine: 'StartLine',
  });
  expect(await readMachineSettings(describing(JSON.stringify(definition)), 'arn')).toEqual({
    webhookWait: 600,
    startRetry: { first: 4, every: 60, backoff: 2 },
    poll: { first: 5, every: 120, backoff: 3 },
  });
});

test('a definition of another form is refused with a sentence', async () => {
  await expect(readMachineSettings(describing('{}'), 'arn')).rejects.toThrow('another definition');
});

const partial = closedExtraction({ status: 'PARTIAL', collectionError: 'no-results' });

test.each([
  [extractionIn('RUNNING'), `${id} is RUNNING and still open. Its results are not collected yet.`],
  [closedExtraction({ status: 'NOT_STARTED' }), `${id} is closed as NOT_STARTED, without results.`],
  [partial, `${id} is closed as PARTIAL. Its results were not collected: no-results.`],
])('an extraction without stored results is reported with the reason', (record, message) => {
  expect(() => requireResults(record)).toThrow(new CliError(message));
});

test('who pauses is not known where STS does not answer, and the pause is made all the same', async () => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  const client = { region: 'eu-west-1', endpoint: 'http://127.0.0.1:9', credentials };
  expect(await identityOf({ client } as Deployment)).toBeUndefined();
});

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
  const row = Object.entries({ subject: 'bank', lines: '3' }).map(([field, value]) => ({ field, value }));
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

test.each(['Failed', 'Cancelled', 'Timeout'])('a query that ended as %s is an error', async (status) => {
  await expect(run({ status })).rejects.toThrow(`The query of the logs ended as ${status}.`);
});

test('a query that does not end is an error', async () => {
  await expect(run({ status: 'Running' })).rejects.toThrow('did not end within two minutes');
});
