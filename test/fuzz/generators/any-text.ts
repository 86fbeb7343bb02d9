import fc from 'fast-check';

const between = (min: number, max: number): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((codePoint) => String.fromCodePoint(codePoint));

/**
 * Code points of every plane, ASCII and its control characters most often. fast-check's own unit for this, `binary`,
 * takes a second to set up.
 */
const wellFormed = fc.oneof(
  { weight: 6, arbitrary: between(0x20, 0x7e) },
  { weight: 1, arbitrary: between(0, 0x1f) },
  { weight: 2, arbitrary: between(0x7f, 0xd7ff) },
  { weight: 1, arbitrary: between(0xe000, 0xffff) },
  { weight: 2, arbitrary: between(0x1_0000, 0x10_ffff) },
);

type Lengths = { readonly minLength?: number; readonly maxLength?: number };

/** Any text that UTF-8 can hold. Lengths are in code points. */
export const anyText = (lengths: Lengths = {}): fc.Arbitrary<string> =>
  fc.string({ unit: wellFormed, ...lengths });

/** Any text that may be stored and shown. */
export const anyLine = (lengths: Lengths = {}): fc.Arbitrary<string> =>
  fc.string({ unit: wellFormed.filter((one) => !/\p{Cc}/u.test(one)), ...lengths });

/** Any text, and with lone surrogates, which JSON can write and UTF-8 cannot hold. */
export const anyUnits = (lengths: Lengths = {}): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.oneof({ weight: 12, arbitrary: wellFormed }, { weight: 1, arbitrary: between(0xd800, 0xdfff) }),
    ...lengths,
  });
