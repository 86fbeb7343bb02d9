import fc from 'fast-check';

/** Bytes with one bit flipped, counted around their end. */
export const flipped = (bytes: Uint8Array, bit: number): Buffer => {
  const copy = Buffer.from(bytes);
  const at = Math.floor(bit / 8) % copy.length;
  if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << (bit % 8));
  return copy;
};

/** What parsers stumble over: NUL, a BOM, UTF-8 that is none (overlong, a surrogate, cut off), quotes, brackets. */
const awkward = fc
  .constantFrom('00', 'efbbbf', 'ff', 'c0af', 'eda080', 'f09f', '22', '7b', '7d', '2c', '5c7564383030', '0a')
  .map((hex) => Buffer.from(hex, 'hex'));

/** Bytes are cut off at a place, have a bit flipped there, or get others or their own in between. */
const damage: fc.Arbitrary<(bytes: Buffer, at: number) => Buffer> = fc.oneof(
  fc.constant((bytes: Buffer, at: number) => bytes.subarray(0, at)),
  fc.nat(7).map((bit) => (bytes: Buffer, at: number) => flipped(bytes, 8 * at + bit)),
  fc
    .oneof(awkward, fc.uint8Array({ minLength: 1, maxLength: 4 }))
    .map(
      (more) => (bytes: Buffer, at: number) =>
        Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]),
    ),
  fc
    .integer({ min: 1, max: 40 })
    .map(
      (length) => (bytes: Buffer, at: number) =>
        Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]),
    ),
);

/** Even. fc.double is even over the floats that there are, most of which are next to 0: all damage was at the beginning. */
const share = fc.nat(999_999).map((millionths) => millionths / 1_000_000);

/** Bytes near those of `original`: cut, flipped, with something more in them, or repeated in part. */
export const damagedBytes = (original: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(original, fc.array(fc.tuple(damage, share), { minLength: 1, maxLength: 3 }))
    .map(([bytes, damages]) =>
      damages.reduce((left, [apply, at]) => apply(left, Math.floor(at * left.length)), bytes),
    );
