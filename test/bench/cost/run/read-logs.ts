import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from '../../../../infra/local/emulator.ts';

const startOf = /^START RequestId: (\S+)/;

/** One line per event, of what the functions write: JSON. */
const isOwn = (line: string): boolean => line.startsWith('{');

/** What an invocation logged, in bytes. */
export type Logged = {
  /** Each event of the function's own. */
  readonly own: readonly number[];
  /** Of the error that it threw, as its stack: the runtime writes it. 0 where it threw none. */
  readonly stack: number;
};

/**
 * What the functions logged, by request id. The emulator writes START, the function's lines, END and REPORT of an
 * invocation into a stream of its own, and the stack of an error line by line. The platform's lines are left out, as
 * on AWS they are another format's, or none (`platform-logs.ts`), and so are Node's warnings of the preload.
 */
export const readLogs = async ({
  client,
}: Pick<Emulator, 'client'>): Promise<ReadonlyMap<string, Logged>> => {
  const logs = new CloudWatchLogsClient(client);
  const streams = new Map<string, string[]>();
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, {})) {
    for (const { logGroupName } of logGroups) {
      for await (const { events = [] } of paginateFilterLogEvents({ client: logs }, { logGroupName })) {
        for (const { logStreamName = '', message = '' } of events) {
          streams.set(logStreamName, [...(streams.get(logStreamName) ?? []), message]);
        }
      }
    }
  }
  return new Map(
    [...streams.values()].flatMap((lines) => {
      const requestId = lines.map((line) => startOf.exec(line)?.[1]).find((id) => id !== undefined);
      return requestId === undefined ? [] : [[requestId, logged(lines)] as const];
    }),
  );
};

const logged = (lines: readonly string[]): Logged => {
  const first = lines.findIndex((line) => / {4}at /.test(line)) - 1;
  const stack =
    first < 0 ? [] : lines.slice(first).filter((line) => / {4}at /.test(line) || line === lines[first]);
  return {
    own: lines.filter(isOwn).map((line) => Buffer.byteLength(line)),
    stack: stack.reduce((sum, line) => sum + Buffer.byteLength(line), 0),
  };
};
