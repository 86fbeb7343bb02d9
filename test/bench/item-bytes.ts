const utf8 = (text: string): number => Buffer.byteLength(text);

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return utf8(value);
  // "approximately … (1 byte per two significant digits) + (1 byte)"
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (typeof value === 'boolean' || value === null) return 1;
  if (Array.isArray(value)) return 3 + value.reduce((sum: number, one) => sum + 1 + valueBytes(one), 0);
  return (
    3 +
    Object.entries(value as object).reduce((sum, [name, one]) => sum + 1 + utf8(name) + valueBytes(one), 0)
  );
};

/**
 * The size of an item as DynamoDB bills it, in bytes: names and values of all attributes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const itemBytes = (item: object): number =>
  Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .reduce((sum, [name, value]) => sum + utf8(name) + valueBytes(value), 0);
