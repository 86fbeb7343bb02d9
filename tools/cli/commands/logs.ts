import { type LogName, logNames } from '../aws/log-names.ts';
import { errorPattern, linesOfLog, logGroupsOf, logsClient } from '../aws/logs.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { CommandContext } from './command-context.ts';

type LogsOptions = { readonly errors?: true; readonly filter?: string; readonly since: Since };

const functionLogs = logNames.filter((name) => name !== 'api');

/** Prints the lines of one function's log, or of all, as CloudWatch has them. */
export const logs = async (
  name: LogName | undefined,
  { errors, filter, since }: LogsOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const client = logsClient(deployment.client);
  // The others have neither levels nor messages.
  const names = name === undefined ? functionLogs : [name];
  const query = { since: since(shell.now()), filterPattern: errors === true ? errorPattern : filter };
  let count = 0;
  for (const one of names) {
    shell.wait(`reading the log of ${one}`);
    for (const group of await logGroupsOf([one], deployment)) {
      for await (const { at, line, fields } of linesOfLog(client, group, query)) {
        shell.wait(undefined);
        count += 1;
        shell.print(line, { at: new Date(at).toISOString(), log: one, line: fields ?? line });
      }
    }
  }
  shell.wait(undefined);
  if (count === 0) shell.hint(`No line since ${query.since.toISOString()}.`);
  return 0;
};
