import type { ClientConfig } from '../../cli/aws/deployment.ts';
import { linesOfLog, logsClient } from '../../cli/aws/logs.ts';

const numberIn = (line: string, label: string, unit: string): number | undefined => {
  // A tab or the start is before the label, as `Billed Duration` ends in `Duration`.
  const [, value] = new RegExp(`(?:^|\\t)${label}: ([\\d.]+) ${unit}`).exec(line) ?? [];
  return value === undefined ? undefined : Number(value);
};

/** Reads a REPORT line, such as `REPORT RequestId: … Duration: 2.5 ms Billed Duration: 3 ms …`, separated by tabs. */
export const parseReport = (line: string) => {
  const [, requestId] = /^REPORT RequestId: (\S+)/.exec(line) ?? [];
  const billedMs = numberIn(line, 'Billed Duration', 'ms');
  if (requestId === undefined || billedMs === undefined) return undefined;
  return {
    requestId,
    billedMs,
    durationMs: numberIn(line, 'Duration', 'ms') ?? billedMs,
    memoryMB: numberIn(line, 'Memory Size', 'MB') ?? 0,
    usedMB: numberIn(line, 'Max Memory Used', 'MB') ?? 0,
    /** Present if the invocation started a new process. */
    initMs: numberIn(line, 'Init Duration', 'ms'),
  };
};

/** What Lambda reports of one invocation. */
export type Invocation = Readonly<NonNullable<ReturnType<typeof parseReport>>>;

export const readLogLines = async (client: ClientConfig, logGroupName: string, since: Date) => {
  const lines: string[] = [];
  const query = { since, filterPattern: undefined };
  for await (const { line } of linesOfLog(logsClient(client), logGroupName, query)) lines.push(line);
  return lines;
};
