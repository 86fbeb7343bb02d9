import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from '../../../../tools/local/emulator/emulator.ts';

const startOf = /^START RequestId: (\S+)/;

/** The functions log one line of JSON per event. */
const isOwn = (line: string): boolean => line.startsWith('{');

/** The bytes that an invocation logged. */
export type Logged = {
  /** Bytes of the function's lines. */
  readonly own: number;
  /** Bytes of the stack frames of its error, which the runtime logs. 0 without an error. */
  readonly stack: number;
};

/**
 * The logs of the functions, by request id. The emulator writes START, the function's lines, END and REPORT of an invocation
 * into one stream, and the stack of an error line by line. Platform lines are left out, because AWS has another format
 * (`log-bytes.ts`), and so are Node's warnings about the preload.
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
