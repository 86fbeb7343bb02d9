import { createHash } from 'node:crypto';
import { planOf } from '../planned-behaviour.ts';
import type { Product } from '../product-vocabulary.ts';
import type { RequestedAction, Sandbox, Task } from '../state-types.ts';
import type { ActionErrorCode, ActionErrors, ActionId } from '../task-vocabulary.ts';

/** `results.actions[]` of the document: `error` is present if and only if the action FAILED. */
export type ActionResult =
  | { readonly id: ActionId; readonly status: 'COMPLETED'; readonly output: unknown }
  | {
      readonly id: ActionId;
      readonly status: 'FAILED';
      readonly output: null;
      readonly error: { readonly code: ActionErrorCode; readonly message: string };
    };

export type Results = {
  readonly username: string;
  readonly businessId?: string;
  readonly entityId: string;
  readonly actions: readonly ActionResult[];
};

const messages: Readonly<Record<ActionErrorCode, string>> = {
  UNKNOWN_ERROR: 'An unexpected error occurred',
  ACTION_ERROR: 'The action could not be completed',
  REQUEST_BLOCK_ERROR: 'The request was blocked by the entity',
  TIMEOUT_ERROR: 'The maximum operation time was exceeded',
  ENTITY_API_ERROR: 'The API of the entity reported an error',
};

/** The results of a task, one for each action in the order of the request. `at`: when the task ended. */
export const buildResults = (task: Task, errors: ActionErrors, at: number): Results => ({
  username: task.username,
  ...(task.businessId === undefined ? {} : { businessId: task.businessId }),
  entityId: task.entity,
  actions: task.actions.map((action) => actionResult(task.username, action, errors[action.id], at)),
});

const actionResult = (
  username: string,
  action: RequestedAction,
  code: ActionErrorCode | undefined,
  at: number,
): ActionResult => {
  if (code !== undefined) {
    return { id: action.id, status: 'FAILED', output: null, error: { code, message: messages[code] } };
  }
  return { id: action.id, status: 'COMPLETED', output: outputOf(username, action, at) };
};

const outputOf = (username: string, action: RequestedAction, at: number): unknown => {
  switch (action.id) {
    case 'product-balance':
      return productBalanceOutput(username);
    case 'movement':
      return movementOutput(username, action.dateRange, at);
    case 'tef':
      return tefOutput(username, at);
  }
};

/** A number in [0, limit) that depends only on the words, so that results repeat. */
export const numberFrom = (limit: number, ...words: readonly string[]): number =>
  createHash('sha256').update(words.join('\n')).digest().readUInt32BE(0) % limit;

/** An account number of eleven digits. */
export const accountFrom = (...words: readonly string[]): string =>
  `001${String(numberFrom(100_000_000, 'account', ...words)).padStart(8, '0')}`;

/** An amount in Chilean pesos, which have no cents: 1,000 to 1,000,990 in tens. */
export const amountFrom = (...words: readonly string[]): number =>
  1_000 + 10 * numberFrom(100_000, 'amount', ...words);

/** The item of the document's sample ("Product data item shapes"). */
export type MovementItem = {
  readonly date: string;
  readonly amount: number;
  readonly currency: string;
  readonly originAccount: string;
  readonly destinationAccount: string;
};

/** The date of the oldest movement. Ranges are adjusted to it and to today ("Limits"). */
const OLDEST = '2020-01-01';
const DAY_MS = 24 * 60 * 60 * 1000;

/** A movement for about every second day of the range, oldest first. */
export const movementOutput = (
  username: string,
  dateRange: { readonly startDate: string; readonly endDate: string } | undefined,
  at: number,
): MovementItem[] => {
  const today = new Date(at).toISOString().slice(0, 10);
  const first = laterOf(OLDEST, dateRange?.startDate ?? OLDEST);
  const last = earlierOf(today, dateRange?.endDate ?? today);
  return daysBetween(first, last)
    .filter((date) => numberFrom(2, 'movement', username, date) === 0)
    .map((date) => movementOn(username, date));
};

export const movementOn = (username: string, date: string): MovementItem => ({
  date,
  amount: amountFrom(username, date),
  currency: 'CLP',
  originAccount: accountFrom(username),
  destinationAccount: accountFrom(username, date),
});

// Dates as YYYY-MM-DD sort as text.
const laterOf = (one: string, other: string) => (one > other ? one : other);
const earlierOf = (one: string, other: string) => (one < other ? one : other);

const daysBetween = (first: string, last: string): string[] => {
  const from = Date.parse(first);
  const days = Math.floor((Date.parse(last) - from) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, days) }, (_, index) =>
    new Date(from + index * DAY_MS).toISOString().slice(0, 10),
  );
};

/** The document says that it is an object, and does not show its fields. These are invented. */
export type ProductBalance = {
  readonly currency: string;
  readonly accounts: readonly {
    readonly accountNumber: string;
    readonly accountType: string;
    readonly balance: number;
    readonly available: number;
  }[];
};

export const productBalanceOutput = (username: string): ProductBalance => {
  return {
    currency: 'CLP',
    accounts: ['checking', 'savings'].map((accountType) => {
      const available = amountFrom(username, accountType, 'available');
      return {
        accountNumber: accountFrom(username, accountType),
        accountType,
        // Part of the balance is retained.
        balance: available + amountFrom(username, accountType, 'retained'),
        available,
      };
    }),
  };
};

/** Three transfers of the last three days. `tef` takes no range. The document's sample has the shape of a movement. */
export const tefOutput = (username: string, at: number): MovementItem[] =>
  [3, 2, 1].map((daysAgo) =>
    movementOn(username, new Date(at - daysAgo * DAY_MS).toISOString().slice(0, 10)),
  );

const NINETY_DAYS_MS = 90 * 24 * 60 * 60 * 1000;

/**
 * The data of a product by consent: "array; structure depends on the product". Movements and transfers have the shape of
 * the document's sample. The document does not show the others, which get one invented item.
 */
export const productData = (product: Product | string, owner: string, at: number): readonly unknown[] => {
  switch (product) {
    case 'movement':
      return movementOutput(owner, lastNinetyDays(at), at);
    case 'tef':
      return tefOutput(owner, at);
    case 'product-balance':
      return [productBalanceOutput(owner)];
    default:
      return [{ product, amount: amountFrom(owner, product), currency: 'CLP' }];
  }
};

const lastNinetyDays = (at: number) => {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { startDate: day(at - NINETY_DAYS_MS), endDate: day(at) };
};

/** Adds the marker of the settings to results, unless a plan sets the results. */
export const addMarker = (sandbox: Sandbox, username: string, results: unknown): unknown => {
  const marker = sandbox.settings.markers.result;
  if (marker === undefined || 'results' in planOf(sandbox, username)) return results;
  if (Array.isArray(results)) return [...results, { marker }];
  return typeof results === 'object' && results !== null ? { ...results, marker } : results;
};
