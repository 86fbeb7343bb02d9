import { expect, test } from 'vitest';
import { parseTraceparent } from '#lib/http/caller-and-trace.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';
const valid = `00-${trace}-${parent}-01`;

test.each([valid, `00-${trace}-${parent}-00`, `00-${trace}-${parent}-ff`])(
  '%s is kept as it is',
  (header) => {
    expect(parseTraceparent(header)).toBe(header);
  },
);

test.each([
  [`01-${trace}-${parent}-03`, valid],
  [`fe-${trace}-${parent}-02-what-comes-later`, `00-${trace}-${parent}-00`],
])('%s of a later version is kept as version 00', (header, kept) => {
  expect(parseTraceparent(header)).toBe(kept);
});

test.each([
  undefined,
  '',
  `ff-${trace}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `00-${trace}-${parent}-1`,
  `00-${trace}-${parent}`,
  `${valid}-more`,
  `01-${trace}-${parent}-01.`,
  ` ${valid}`,
  `${valid},${valid}`,
  `0g-${trace}-${parent}-01`,
])('%j is ignored', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});
