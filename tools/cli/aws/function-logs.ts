import {
  type CloudWatchLogsClient,
  paginateFilterLogEvents,
  ResourceNotFoundException,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Deployment } from './deployment.ts';
import { type LogName, logOf } from './log-names.ts';
import { loggedFields } from './logs.ts';

/** The log groups of these functions. Throws the SDK's errors. */
export const logGroupsOf = async (
  names: readonly LogName[],
  { resources }: Pick<Deployment, 'resources'>,
): Promise<readonly string[]> => {
  const groups = await resources('AWS::Logs::LogGroup');
  return groups.filter((group) => names.some((name) => group.includes(logOf[name])));
};

/** What a function reports as a warning or an error. */
export const errorPattern = '{ ($.level = "ERROR") || ($.level = "WARN") }';

export type LoggedLine = { readonly at: string; readonly line: string };

/**
 * The lines of a log, oldest first, as they come. An emulator returns every line for a pattern, or none, so that the lines of
 * `errorPattern` are chosen again. Throws the SDK's errors.
 */
export async function* linesOfLog(
  client: CloudWatchLogsClient,
  logGroupName: string,
  { since, filterPattern }: { readonly since: Date; readonly filterPattern: string | undefined },
): AsyncGenerator<LoggedLine, void> {
  const query = { logGroupName, startTime: since.getTime(), ...(filterPattern && { filterPattern }) };
  const isWanted = (line: string): boolean =>
    filterPattern !== errorPattern || ['ERROR', 'WARN'].includes(String(loggedFields(line)?.level));
  try {
    for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) {
      for (const { message = '', timestamp = 0 } of events) {
        const line = message.trimEnd();
        if (isWanted(line)) yield { at: new Date(timestamp).toISOString(), line };
      }
    }
  } catch (error) {
    // On the emulator, a function that never ran has none.
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
}
