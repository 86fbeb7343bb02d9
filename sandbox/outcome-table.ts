import {
  ACTION_IDS,
  type ActionErrorCode,
  type ActionErrors,
  type TerminalStatus,
} from './task-vocabulary.ts';

/**
 * A row of the outcome table. The pair (username, businessId) determines the outcome of a v2 task. The document does not
 * show the provider's own pairs ("Sandbox behaviours" 5), so these are invented.
 */
export type OutcomeRow = {
  readonly username: string;
  readonly businessId: string;
  /** The status for the actions in `ask`. For other actions it follows from their results. */
  readonly taskStatus: TerminalStatus;
  readonly actionErrors: ActionErrors;
  /** The actions to request, and their results. */
  readonly ask: string;
};

/** A valid company id (its check digit is right) that is easily recognized as test data. */
export const DEMO_BUSINESS_ID = '77777777-7';

const everyActionFailsWith = (code: ActionErrorCode): ActionErrors =>
  Object.fromEntries(ACTION_IDS.map((id) => [id, code]));

const row = (
  username: string,
  taskStatus: TerminalStatus,
  ask: string,
  actionErrors: ActionErrors = {},
): OutcomeRow => ({ username, businessId: DEMO_BUSINESS_ID, taskStatus, ask, actionErrors });

const failsWith = (username: string, code: ActionErrorCode) =>
  row(username, 'FAILED', `any actions; each fails with ${code}`, everyActionFailsWith(code));

export const OUTCOMES: readonly OutcomeRow[] = [
  row('completed', 'COMPLETED', 'movement; it completes'),
  row('completed-both', 'COMPLETED', 'product-balance and movement; both complete'),
  row('partial', 'PARTIAL', 'product-balance completes, movement fails with TIMEOUT_ERROR', {
    movement: 'TIMEOUT_ERROR',
  }),
  row('credentials-wrong', 'CREDENTIALS_WRONG', 'any actions; results is null'),
  row('credentials-locked', 'CREDENTIALS_LOCKED', 'any actions; results is null'),
  row('failed', 'FAILED', 'product-balance fails with ACTION_ERROR, movement with ENTITY_API_ERROR', {
    'product-balance': 'ACTION_ERROR',
    movement: 'ENTITY_API_ERROR',
    tef: 'ACTION_ERROR',
  }),
  failsWith('unknown-error', 'UNKNOWN_ERROR'),
  failsWith('action-error', 'ACTION_ERROR'),
  failsWith('request-block-error', 'REQUEST_BLOCK_ERROR'),
  failsWith('timeout-error', 'TIMEOUT_ERROR'),
  failsWith('entity-api-error', 'ENTITY_API_ERROR'),
];

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
