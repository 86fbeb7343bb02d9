import { createHash } from 'node:crypto';
import { planOf } from '../planned-behaviour.ts';
import type { RequestedAction, Sandbox, Task } from '../state-types.ts';
import type { ActionErrorCode, ActionErrors } from '../task-vocabulary.ts';

const messages: Readonly<Record<ActionErrorCode, string>> = {
  UNKNOWN_ERROR: 'An unexpected error occurred',
  ACTION_ERROR: 'The action could not be completed',
  REQUEST_BLOCK_ERROR: 'The request was blocked by the entity',
  TIMEOUT_ERROR: 'The maximum operation time was exceeded',
  ENTITY_API_ERROR: 'The API of the entity reported an error',
};

/** The results of a task, one for each action in the order of the request. `at`: when the task ended. */
export const buildResults = (
  { username, businessId, entity, actions }: Task,
  errors: ActionErrors,
  at: number,
) => ({
  username,
  businessId,
  entityId: entity,
  actions: actions.map((action) => actionResult(username, action, errors[action.id], at)),
});

/** `error` is present if and only if the action FAILED. */
const actionResult = (
  username: string,
  action: RequestedAction,
  code: ActionErrorCode | undefined,
  at: number,
) => {
  const { id } = action;
  if (code === undefined) return { id, status: 'COMPLETED', output: outputOf(username, action, at) };
  return { id, status: 'FAILED', output: null, error: { code, message: messages[code] } };
};

const outputOf = (username: string, action: RequestedAction, at: number): unknown => {
  switch (action.id) {
    case 'product-balance':
      return productBalanceOutput(username);
    case 'movement':
      return movementOutput(username, action.params?.dateRange, at);
    case 'tef':
      return tefOutput(username, at);
    default:
      return [];
  }
};

/** A number in [0, limit) that depends only on the words, so that results repeat. */
const numberFrom = (limit: number, ...words: readonly string[]): number =>
  createHash('sha256').update(words.join('\n')).digest().readUInt32BE(0) % limit;

/** An account number of eleven digits. */
export const accountFrom = (...words: readonly string[]): string =>
  `001${String(numberFrom(100_000_000, 'account', ...words)).padStart(8, '0')}`;

/** An amount in Chilean pesos, which have no cents: 1,000 to 1,000,990 in tens. */
const amountFrom = (...words: readonly string[]): number =>
  1_000 + 10 * numberFrom(100_000, 'amount', ...words);

/** The date of the oldest movement. Ranges are adjusted to it and to today ("Limits"). */
const OLDEST = '2020-01-01';
const DAY_MS = 24 * 60 * 60 * 1000;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** A movement for about every second day of the range, oldest first. */
const movementOutput = (
  username: string,
  dateRange: { readonly startDate: string; readonly endDate: string } | undefined,
  at: number,
) => {
  const today = dayOf(at);
  const first = laterOf(OLDEST, dateRange?.startDate ?? OLDEST);
  const last = earlierOf(today, dateRange?.endDate ?? today);
  return daysBetween(first, last)
    .filter((date) => numberFrom(2, 'movement', username, date) === 0)
    .map((date) => movementOn(username, date));
};

/** The item of the document's sample ("Product data item shapes"). */
const movementOn = (username: string, date: string) => ({
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
  return Array.from({ length: Math.max(0, days) }, (_, index) => dayOf(from + index * DAY_MS));
};

/** The document says that it is an object, and does not show its fields. These are invented. */
const productBalanceOutput = (username: string) => ({
  currency: 'CLP',
  accounts: ['checking', 'savings'].map((accountType) => {
    const available = amountFrom(username, accountType, 'available');
    // Part of the balance is retained.
    const balance = available + amountFrom(username, accountType, 'retained');
    return { accountNumber: accountFrom(username, accountType), accountType, balance, available };
  }),
});

/** Three transfers of the last three days. `tef` takes no range. The document's sample has the shape of a movement. */
const tefOutput = (username: string, at: number) =>
  [3, 2, 1].map((daysAgo) => movementOn(username, dayOf(at - daysAgo * DAY_MS)));

/**
 * The data of a product by consent: "array; structure depends on the product". Movements and transfers have the shape of
 * the document's sample. The document does not show the others, which get one invented item.
 */
export const productData = (product: string, owner: string, at: number): readonly unknown[] => {
  switch (product) {
    case 'movement':
      return movementOutput(owner, { startDate: dayOf(at - 90 * DAY_MS), endDate: dayOf(at) }, at);
    case 'tef':
      return tefOutput(owner, at);
    case 'product-balance':
      return [productBalanceOutput(owner)];
    default:
      return [{ product, amount: amountFrom(owner, product), currency: 'CLP' }];
  }
};

/** Adds the marker of the settings to results, unless a plan sets the results. */
export const addMarker = (sandbox: Sandbox, username: string, results: unknown): unknown => {
  const marker = sandbox.settings.markers.result;
  if (marker === undefined || 'results' in planOf(sandbox, username)) return results;
  if (Array.isArray(results)) return [...results, { marker }];
  return typeof results === 'object' && results !== null ? { ...results, marker } : results;
};
