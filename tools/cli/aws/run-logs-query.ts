import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { CliError } from '../terminal/errors.ts';
import type { Bounded } from './deployment.ts';
import type { Period } from './read-log-lines.ts';

type LogsQuery = Period & {
  readonly logGroupNames: readonly string[];
  /** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html */
  readonly query: string;
};

/** The most that StartQuery returns (https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html). */
const maxRows = 10_000;

const pollMs = 500;

/** Two minutes. Queries of two days take seconds. */
const maxPolls = 240;

const runningStates: readonly unknown[] = ['Scheduled', 'Running', 'Unknown', undefined];

/**
 * Runs a query of CloudWatch Logs Insights, and waits for its end. AWS bills each GB of log that it reads.
 *
 * @returns the fields of each row, as texts. Throws CliError for a query that does not end, and the SDK's errors.
 */
export const runLogsQuery = async (
  client: CloudWatchLogsClient,
  { logGroupNames, query, from, to }: LogsQuery,
  sleep: (milliseconds: number) => Promise<void>,
): Promise<Bounded<Readonly<Record<string, string>>>> => {
  const epochSeconds = (time: string): number => Math.floor(Date.parse(time) / 1_000);
  const { queryId } = await client.send(
    new StartQueryCommand({
      logGroupNames: [...logGroupNames],
      queryString: query,
      startTime: epochSeconds(from),
      endTime: epochSeconds(to),
      limit: maxRows,
    }),
  );
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
    if (status === 'Complete') {
      const items = results.map((row) =>
        Object.fromEntries(row.map(({ field = '', value = '' }) => [field, value])),
      );
      return { items, complete: items.length < maxRows };
    }
    if (!runningStates.includes(status)) throw new CliError(`The query of the logs ended as ${status}.`);
    await sleep(pollMs);
  }
  throw new CliError('The query of the logs did not end within two minutes. Try again.');
};
