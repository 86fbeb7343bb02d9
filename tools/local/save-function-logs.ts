import { writeFile } from 'node:fs/promises';
import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from './emulator/emulator.ts';

/**
 * Writes all log events of the functions into a file, in order of time, as the emulator loses them when it stops.
 * `containing` keeps only the lines with this text.
 */
export const saveFunctionLogs = async (
  { client }: Pick<Emulator, 'client'>,
  file: string,
  containing = '',
): Promise<void> => {
  const logs = new CloudWatchLogsClient(client);
  const lines: string[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, {})) {
    for (const { logGroupName } of logGroups) {
      for await (const { events = [] } of paginateFilterLogEvents({ client: logs }, { logGroupName })) {
        for (const { timestamp = 0, message = '' } of events) {
          if (!message.includes(containing)) continue;
          lines.push(`${new Date(timestamp).toISOString()} ${logGroupName} ${message.trimEnd()}\n`);
        }
      }
    }
  }
  const timeOf = (line: string): string => line.slice(0, '2026-01-01T00:00:00.000Z'.length);
  lines.sort((one, other) => timeOf(one).localeCompare(timeOf(other)));
  await writeFile(file, lines.join(''));
};
