import {
  type CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';

/** A line of a function's log. `text` is the line with its time and log group. */
export type LogLine = { timestamp: number; message: string; text: string };

/** Reads, at each call, the lines that are new since the one before, of all functions and in order of time. */
export const readFunctionLogs = (client: CloudWatchLogsClient): (() => Promise<LogLine[]>) => {
  /**
   * The last time that was read of each log group, and the events of that time, as others may have it too. They are known by
   * their texts, which have request ids: the emulator gives most events no `eventId`.
   */
  const positions = new Map<string, { startTime: number; seen: Set<string> }>();

  const readGroup = async (logGroupName: string): Promise<LogLine[]> => {
    const { startTime, seen } = positions.get(logGroupName) ?? { startTime: 0, seen: new Set<string>() };
    const lines: LogLine[] = [];
    const position = { startTime, seen: new Set(seen) };
    const pages = paginateFilterLogEvents({ client }, { logGroupName, startTime });
    for await (const { events = [] } of pages) {
      for (const { timestamp = 0, message = '', logStreamName } of events) {
        const key = `${logStreamName} ${message}`;
        if (timestamp > position.startTime)
          Object.assign(position, { startTime: timestamp, seen: new Set() });
        if (timestamp === position.startTime) position.seen.add(key);
        if (timestamp === startTime && seen.has(key)) continue;
        const text = `${new Date(timestamp).toISOString()} ${logGroupName} ${message.trimEnd()}`;
        lines.push({ timestamp, message, text });
      }
    }
    positions.set(logGroupName, position);
    return lines;
  };

  return async () => {
    const lines: LogLine[] = [];
    for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, {})) {
      for (const { logGroupName } of logGroups) {
        if (logGroupName !== undefined) lines.push(...(await readGroup(logGroupName)));
      }
    }
    return lines.sort((one, other) => one.timestamp - other.timestamp);
  };
};
