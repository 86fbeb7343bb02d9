/** The bill has no rule for a call, so its units would be a guess. */
export class CannotBeCounted extends Error {
  override readonly name = 'CannotBeCounted';
}

/** A value as DynamoDB sends it: `{"S": "text"}`, `{"N": "12"}`, `{"M": {…}}`, … */
type Attribute = Readonly<Record<string, unknown>>;

/** An item, or a key, by the names of its attributes. */
export type Item = Readonly<Record<string, Attribute>>;

const utf8 = (text: string): number => Buffer.byteLength(text);

/** "(length of number in digits / 2, rounded up) + 1", without sign, point and surrounding zeros. */
const numberBytes = (text: string): number => {
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[-+.]/g, '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1;
};

const sum = <Value>(values: readonly Value[], bytesOf: (value: Value) => number): number =>
  values.reduce((total, value) => total + bytesOf(value), 0);

const valueBytes = (attribute: Attribute): number => {
  const [[type, value] = ['', undefined]] = Object.entries(attribute);
  switch (type) {
    case 'S':
      return utf8(value as string);
    case 'N':
      return numberBytes(value as string);
    case 'BOOL':
    case 'NULL':
      return 1;
    // "3 bytes of overhead, regardless of its contents", and one for each element.
    case 'L':
      return 3 + sum(value as readonly Attribute[], (one) => 1 + valueBytes(one));
    case 'M':
      return 3 + sum(Object.entries(value as Item), ([name, one]) => 1 + utf8(name) + valueBytes(one));
    default:
      throw new CannotBeCounted(`The bill has no size for the attribute type ${type}.`);
  }
};

/**
 * The billed size of an item in bytes: the names and values of its attributes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item), ([name, value]) => utf8(name) + valueBytes(value));
