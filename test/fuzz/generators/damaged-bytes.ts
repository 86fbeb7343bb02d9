import fc from 'fast-check';

/** One thing that is done to bytes. Positions are shares of the length, so that they fit whatever it is. */
type Damage =
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'repeat'; readonly at: number; readonly length: number };

/** Even. fc.double is even over the floats that there are, most of which are next to 0: all damage was at the beginning. */
const share = fc.nat(999_999).map((millionths) => millionths / 1_000_000);

/** What parsers stumble over: NUL, a BOM, UTF-8 that is none (overlong, a surrogate, cut off), quotes, brackets. */
const awkward = fc.constantFrom(
  Uint8Array.of(0),
  Uint8Array.of(0xef, 0xbb, 0xbf),
  Uint8Array.of(0xff),
  Uint8Array.of(0xc0, 0xaf),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.of(0xf0, 0x9f),
  Buffer.from('"'),
  Buffer.from('{'),
  Buffer.from('}'),
  Buffer.from(','),
  Buffer.from('\\ud800'),
  Buffer.from('\n'),
);

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: share }),
  fc.record({ kind: fc.constant('flip' as const), at: share, bit: fc.nat(7) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: share,
    bytes: fc.oneof(awkward, fc.uint8Array({ minLength: 1, maxLength: 4 })),
  }),
  fc.record({ kind: fc.constant('repeat' as const), at: share, length: fc.integer({ min: 1, max: 40 }) }),
);

const applied = (bytes: Buffer, one: Damage): Buffer => {
  const at = Math.floor(one.at * bytes.length);
  switch (one.kind) {
    case 'cut':
      return bytes.subarray(0, at);
    case 'flip': {
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) flipped[at] = (flipped[at] ?? 0) ^ (1 << one.bit);
      return flipped;
    }
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), one.bytes, bytes.subarray(at)]);
    case 'repeat':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + one.length), bytes.subarray(at)]);
  }
};

/** Bytes near those of `original`: cut, flipped, with something more in them, or repeated in part. */
export const damagedBytes = (original: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(original, fc.array(damage, { minLength: 1, maxLength: 3 }))
    .map(([bytes, damages]) => damages.reduce(applied, bytes));
