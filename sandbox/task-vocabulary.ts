/** The document's values for v2 tasks (sections "v2 task", "States and transitions", "Errors"). */

export const TERMINAL_STATUSES = [
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];
export type TaskStatus = 'PENDING' | 'RUNNING' | TerminalStatus;

export const ACTION_IDS = ['product-balance', 'movement', 'tef'] as const;

export const ACTION_ERROR_CODES = [
  'UNKNOWN_ERROR',
  'ACTION_ERROR',
  'REQUEST_BLOCK_ERROR',
  'TIMEOUT_ERROR',
  'ENTITY_API_ERROR',
] as const;
export type ActionErrorCode = (typeof ACTION_ERROR_CODES)[number];

/** The error of each failing action, by its id. The other actions complete. */
export type ActionErrors = Readonly<Partial<Record<string, ActionErrorCode>>>;
