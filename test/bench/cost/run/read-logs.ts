import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from '../../../../infra/local/emulator/emulator.ts';

const startOf = /^START RequestId: (\S+)/;

/** One line per event, of what the functions write: JSON. */
const isOwn = (line: string): boolean => line.startsWith('{');

/** What an invocation logged, in bytes. */
export type Logged = {
  /** Of the function's own lines. */
  readonly own: number;
  /** Of the frames of the error that it threw, which the runtime writes. 0 where there are none. */
  readonly stack: number;
};

/**
 * What the functions logged, by request id. The emulator writes START, the function's lines, END and REPORT of an
 * invocation into a stream of its own, and the stack of an error line by line. The platform's lines are left out, as
 * on AWS they are another format's, or none (`log-bytes.ts`), and so are Node's warnings of the preload.
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

const bytesOf = (lines: readonly string[]): number => Buffer.byteLength(lines.join(''));

const logged = (lines: readonly string[]): Logged => ({
  own: bytesOf(lines.filter(isOwn)),
  stack: bytesOf(lines.filter((line) => / {4}at /.test(line))),
});
