/**
 * The catalogues of the provider's API document. Requests are validated against them, except the ids of actions, to which a deployment may
 * add (setting `moreActions`). Answers are not validated against them, because catalogues grow ("Versioning", rule 5). Their fields have
 * the type `Open`.
 */

/** A known value, or any other string. */
export type Open<Known extends string> = Known | (string & {});

/** "Product identifiers". */
export const productTypes = [
  'tef',
  'bill',
  'product-balance',
  'financial-report',
  'product-balance-investment',
  'identity-validation',
  'movement',
  'income-report',
  'pat',
  'pac',
  'transfer',
  'consumer-loan',
  'mortgage',
  'investment-report',
  'credit-card-unbilled-transaction',
  'credit-card-statement',
  'account-balance',
  'identity-validation-clave-unica',
  'tax-folder',
  'tax-folder-pdf',
  'tax-folder-clave-unica',
  'tax-folder-pdf-clave-unica',
  'property-tax',
  'property-tax-clave-unica',
  'dte',
  'dte-clave-unica',
  'sworn-declaration',
  'sworn-declaration-clave-unica',
  'tax-situation',
  'debt',
  'insurance',
  'personal-information',
  'contribution',
  'job',
  'consolidate',
  'fiscal-statement',
  'fiscal-statement-clave-unica',
  'birth-certificate',
  'balances',
] as const;
export type ProductType = (typeof productTypes)[number];

/** The form of an action's `params`: absent, or with a `dateRange`. */
export type ActionParams = 'none' | 'dateRange';

/** The ids "in v2 task actions (`actions[].id`)", and the params of each. */
export const taskActions = {
  movement: 'dateRange',
  'product-balance': 'none',
  tef: 'none',
} as const satisfies Readonly<Record<string, ActionParams>>;
export type TaskActionId = keyof typeof taskActions;

/** "Entity types". */
export const entityTypes = ['bank', 'business-bank', 'government', 'service', 'afp', 'exchange'] as const;
export type EntityType = (typeof entityTypes)[number];

/** `success` appears in sample responses. */
export type ConsentStatus = 'ACTIVE' | 'IN_PROGRESS' | 'INACTIVE' | 'success';

/** `ONE_SHOT_ALREADY_USED` is deprecated. */
export type ConsentSubStatus =
  | 'EXPIRED'
  | 'REVOKED'
  | 'DISCARDED'
  | 'IN_PROGRESS'
  | 'INVALID_PASSWORD'
  | 'ACTIVE'
  | 'ONE_SHOT_ALREADY_USED';

/** "v1 consent-based task". */
export type ExtractionStatusV1 = 'pending' | 'running' | 'success';

/** "v1 legacy (sandbox) task statuses", and the v1 statuses in progress. */
export type LegacyTaskStatus = 'pending' | 'running' | 'success' | 'wrong_login' | 'locked' | 'error';

/** The five final statuses of "v2 task". */
export const terminalTaskStatuses = [
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
] as const;
/** Only these have "`results` null" ("States and transitions", v2 task). */
export const statusesWithoutResults: readonly string[] = ['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];

export type TerminalTaskStatus = (typeof terminalTaskStatuses)[number];

/** Whether a status is final. Any other status, known or new, counts as still running. */
export const isTerminalTaskStatus = (status: string): status is TerminalTaskStatus =>
  (terminalTaskStatuses as readonly string[]).includes(status);

export type TaskStatus = 'PENDING' | 'RUNNING' | TerminalTaskStatus;

/** "Action error codes": "the catalogue grows over time". */
export type ActionErrorCode =
  | 'UNKNOWN_ERROR'
  | 'ACTION_ERROR'
  | 'REQUEST_BLOCK_ERROR'
  | 'TIMEOUT_ERROR'
  | 'ENTITY_API_ERROR';

/** `responseType` selects a preset answer. Only the provider's sandbox supports it ("Sandbox behaviours", rule 1). */
export type Preset = { readonly responseType?: string };
