import type { ExtractionStatus } from '../../../lib/extraction/record.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { type LogName, logNames } from '../aws/log-names.ts';
import { errorPattern, linesOfLog, logGroupsOf, logsClient, readFunctionLogs } from '../aws/logs.ts';
import { runLogsQuery } from '../aws/run-logs-query.ts';
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

/** The functions that write outcomes. */
const ending: readonly LogName[] = ['start-task', 'receive-webhook', 'reconcile-extraction'];

const fields = ['timestamp', 'extractionId', 'reason', 'entity', 'product'] as const;

/** Lists what ended with a status since a time, of the logs: an index of the table has no closed record, and a scan takes hours. */
export const ended = async (
  status: ExtractionStatus,
  { since }: { readonly since: Since },
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const client = logsClient(deployment.client);
  const [from, to] = [since(shell.now()), shell.now()];
  const groups = await logGroupsOf(ending, deployment);
  shell.wait('reading the logs');
  const { items, complete } = deployment.isEmulated
    ? await readLinesOfEmulator(client, groups, status, from)
    : await runLogsQuery(
        client,
        {
          logGroupNames: groups,
          from: from.toISOString(),
          to: to.toISOString(),
          query: `fields ${fields.join(', ')} | filter message = '${logMessages.ended}' and status = '${status}' | sort @timestamp asc | dedup extractionId`,
        },
        shell.sleep,
      );
  shell.wait(undefined);
  for (const row of items) {
    const { timestamp: at, ...others } = Object.fromEntries(fields.map((name) => [name, row[name]]));
    const facts = { at, ...others };
    shell.print(
      Object.values(facts)
        .filter((value) => value !== undefined)
        .join('  '),
      facts,
    );
  }
  shell.hint(
    complete
      ? `${items.length.toLocaleString('en')} ended ${status} since ${from.toISOString()}.`
      : `These are the first ${items.length.toLocaleString('en')}. Name a later --since for the others.`,
  );
  return 0;
};

/** Its logs know no queries. */
const readLinesOfEmulator = async (
  client: ReturnType<typeof logsClient>,
  groups: readonly string[],
  status: string,
  since: Date,
) => {
  const { items, complete } = await readFunctionLogs(client, groups, since, (line) =>
    line.message === logMessages.ended && line.status === status ? line : undefined,
  );
  const rows = new Map<unknown, Readonly<Record<string, string>>>();
  for (const line of items) {
    const texts = Object.entries(line).map(([name, value]) => [name, String(value)]);
    rows.set(line.extractionId, Object.fromEntries(texts));
  }
  const sorted = [...rows.values()].toSorted((one, other) =>
    String(one.timestamp).localeCompare(String(other.timestamp)),
  );
  return { items: sorted, complete };
};
