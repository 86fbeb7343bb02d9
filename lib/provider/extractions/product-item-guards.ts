/**
 * Only in the published client (docs/provider-client.md).
 *
 * The two items of product data that the document shows ("Product data item shapes"). "Per-product result schemas: not
 * shown beyond these", so an item is `unknown` until one of these guards accepts it.
 */

/** "Movement-like item (`tef` sample)". `date` is YYYY-MM-DD. */
export type MovementItem = {
  readonly date: string;
  readonly amount: number;
  readonly currency: string;
  readonly originAccount: string;
  readonly destinationAccount: string;
};

/** "Sandbox TEF recipient item". `rut` is as returned. It may be unformatted, invalid or empty. */
export type TefRecipient = {
  readonly name: string;
  readonly rut: string;
  readonly bankName: string;
  readonly bankCode: string;
  readonly accountNumber: string;
  readonly accountType: string;
  readonly email: string;
  readonly alias: string;
};

const has = (item: unknown, type: 'string' | 'number', fields: readonly string[]): boolean =>
  typeof item === 'object' &&
  item !== null &&
  fields.every((field) => typeof (item as Record<string, unknown>)[field] === type);

export const isMovementItem = (item: unknown): item is MovementItem =>
  has(item, 'string', ['date', 'currency', 'originAccount', 'destinationAccount']) &&
  has(item, 'number', ['amount']);

const recipientFields: readonly (keyof TefRecipient)[] = [
  'name',
  'rut',
  'bankName',
  'bankCode',
  'accountNumber',
  'accountType',
  'email',
  'alias',
];

export const isTefRecipient = (item: unknown): item is TefRecipient => has(item, 'string', recipientFields);
