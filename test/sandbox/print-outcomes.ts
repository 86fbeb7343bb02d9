import { OUTCOMES, type OutcomeRow } from './outcomes.ts';

const headings = ['username', 'businessId', 'taskStatus', 'ask for'];
const cells = (row: OutcomeRow) => [row.username, row.businessId, row.taskStatus, row.ask];

/** The outcome table for a terminal: aligned columns, no trailing newline. */
export const outcomesAsText = (): string => {
  const lines = [headings, ...OUTCOMES.map(cells)];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** The outcome table as Markdown, for docs/sandbox.md. */
export const outcomesAsMarkdown = (): string => {
  const line = (values: readonly string[]) => `| ${values.join(' | ')} |`;
  const row = ({ username, businessId, taskStatus, ask }: OutcomeRow) =>
    line([`\`${username}\``, `\`${businessId}\``, `\`${taskStatus}\``, ask]);
  return [line(headings), line(headings.map(() => '---')), ...OUTCOMES.map(row)].join('\n');
};
