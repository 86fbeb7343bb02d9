import { writeFile } from 'node:fs/promises';
import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from './emulator/emulator.ts';

/**
 * Writes what the functions have logged so far into a file, in order of time: with the emulator it would be gone.
 * `containing`: only the lines that have this text.
 */
export const saveFunctionLogs = async (
  { client }: Pick<Emulator, 'client'>,
  file: string,
  containing = '',
): Promise<void> => {
  const logs = new CloudWatchLogsClient(client);
  const lines: { timestamp: number; text: string }[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, {})) {
    for (const { logGroupName } of logGroups) {
      for await (const { events = [] } of paginateFilterLogEvents({ client: logs }, { logGroupName })) {
        for (const { timestamp = 0, message = '' } of events) {
          if (!message.includes(containing)) continue;
          lines.push({
            timestamp,
            text: `${new Date(timestamp).toISOString()} ${logGroupName} ${message.trimEnd()}\n`,
          });
        }
      }
    }
  }
  lines.sort((one, other) => one.timestamp - other.timestamp);
  await writeFile(file, lines.map(({ text }) => text).join(''));
};
