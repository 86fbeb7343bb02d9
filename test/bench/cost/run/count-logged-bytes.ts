import {
  CloudWatchLogsClient,
  type FilteredLogEvent,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from '../../../../tools/local/emulator/emulator.ts';

/** The bytes that an invocation logged. */
export type Logged = {
  /** Of the function's lines: it logs one line of JSON per event. */
  readonly own: number;
  /** Of the stack frames of its error, which the runtime logs. 0 without an error. */
  readonly stack: number;
};

/**
 * The logs of the functions, by request id. The emulator writes START, the function's lines, END and REPORT of an invocation
 * into one stream, and the stack of an error line by line. Platform lines are left out, because AWS has another format
 * (`log-bytes.ts`), and so are Node's warnings about the preload.
 */
export const countLoggedBytes = async ({
  client,
}: Pick<Emulator, 'client'>): Promise<ReadonlyMap<string, Logged>> => {
  const logs = new CloudWatchLogsClient(client);
  const all: FilteredLogEvent[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, {})) {
    for (const { logGroupName } of logGroups) {
      const pages = paginateFilterLogEvents({ client: logs }, { logGroupName });
      for await (const { events = [] } of pages) all.push(...events);
    }
  }
  const byRequest = new Map<string, Logged>();
  for (const events of Map.groupBy(all, ({ logStreamName }) => logStreamName).values()) {
    const lines = events.map(({ message = '' }) => message);
    const [requestId] = lines.flatMap((line) => /^START RequestId: (\S+)/.exec(line)?.[1] ?? []);
    if (requestId !== undefined) byRequest.set(requestId, loggedIn(lines));
  }
  return byRequest;
};

const bytesOf = (lines: readonly string[]): number => Buffer.byteLength(lines.join(''));

const loggedIn = (lines: readonly string[]): Logged => ({
  own: bytesOf(lines.filter((line) => line.startsWith('{'))),
  stack: bytesOf(lines.filter((line) => / {4}at /.test(line))),
});
