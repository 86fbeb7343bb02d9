import { writeFile } from 'node:fs/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { Emulator } from './emulator/emulator.ts';
import { readFunctionLogs } from './read-function-logs.ts';

/**
 * Writes all log events of the functions into a file, in order of time, as the emulator loses them when it stops.
 * `containing` keeps only the lines with this text.
 */
export const saveFunctionLogs = async (
  { client }: Pick<Emulator, 'client'>,
  file: string,
  containing = '',
): Promise<void> => {
  const lines = await readFunctionLogs(new CloudWatchLogsClient(client))();
  const kept = lines.filter(({ message }) => message.includes(containing));
  await writeFile(file, kept.map(({ text }) => `${text}\n`).join(''));
};
