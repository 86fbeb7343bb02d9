import fc from 'fast-check';
import { anyUnits } from './any-text.ts';
import { type Json, trickyNames } from './extraction-request.ts';

type Holder = { [name: string]: Json };
const isHolder = (value: Json | undefined): value is Holder => typeof value === 'object' && value !== null;

/** Every place in an object or a list, as what holds it and its name. */
const placesIn = (holder: Holder): readonly (readonly [holder: Holder, name: string])[] =>
  Object.keys(holder).flatMap((name) => {
    const value = holder[name];
    return [[holder, name] as const, ...(isHolder(value) ? placesIn(value) : [])];
  });

/** Days that do not exist, beside some that do. */
const oddDays = [
  '2026-02-30',
  '2027-02-29',
  '1900-02-29',
  '2026-04-31',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '2026-01-32',
  '2028-02-29',
  '0000-02-29',
  '9999-12-31',
];

/** What the fields of requests trip over: dates that are none, wrong check digits, other types, other words. */
const awkwardValues: readonly Json[] = [
  null,
  true,
  0,
  -0,
  7,
  1e308,
  '',
  ' ',
  'other',
  [],
  {},
  [null],
  'raw',
  'encrypted',
  'persisted',
  'consent',
  'credentials',
  'movement',
  'tef',
  'v2',
  ...oddDays,
  '0000-01-01',
  '10000-01-01',
  '-00001-01-01',
  '2026-1-1',
  '2026-01-01T00:00:00Z',
  '11111111-1',
  '11.111.111-1',
  '11111111-2',
  '1111.1111-1',
  '０-0',
  '0-0',
  'urn:uuid:5d5f0f0c-6b0e-4d0f-9d5e-2f6a3c1b7e10',
  '5d5f0f0c6b0e4d0f9d5e2f6a3c1b7e10',
  '00000000-0000-0000-0000-000000000000',
  'ÿ',
  '\u0000',
  '\ud800',
  '😀'.repeat(100),
  '😀'.repeat(101),
  '😀'.repeat(256),
  'x'.repeat(256),
  'x'.repeat(257),
  'x'.repeat(4_096),
  'x'.repeat(4_097),
];

const anyValue: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...awkwardValues) },
  { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<Json> },
  { weight: 1, arbitrary: anyUnits({ maxLength: 30 }) },
);

const fieldNames = [
  ...trickyNames,
  'webhook',
  'params',
  'sessionToken',
  'confirmed',
  'username',
  'method',
  'target',
  'entity',
];

type Change = (old: Json) => Json | undefined;

/** Puts a value in place of what is there, takes it out, adds a member to it, or repeats its items. */
const change: fc.Arbitrary<Change> = fc.oneof(
  anyValue.map((value) => () => value),
  fc.constant(() => undefined),
  fc
    .tuple(fc.oneof(fc.constantFrom(...fieldNames), anyUnits({ maxLength: 5 })), anyValue)
    .map(([name, value]) => (old: Json) => {
      if (Array.isArray(old)) return [...old, value];
      return isHolder(old) ? { ...old, [name]: value } : value;
    }),
  fc
    .constantFrom(2, 3, 51)
    .map((times) => (old: Json) => (Array.isArray(old) ? Array(times).fill(old).flat() : old)),
);

/** Makes a day an odd one, a digit the next one, as in a wrong check digit, or adds a letter or a control character. */
const textChange: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc
    .constantFrom(...oddDays)
    .map((day) => (text: string) => (/^\d{4}-\d\d-\d\d$/.test(text) ? day : `${text}x`)),
  fc.nat(100).map((by) => (text: string) => {
    const digits = [...text.matchAll(/\d/g)];
    const { index: at } = digits[by % digits.length] ?? { index: text.length };
    return `${text.slice(0, at)}${(Number(text[at] ?? 0) + 1) % 10}${text.slice(at + 1)}`;
  }),
  fc
    .tuple(fc.nat(100), fc.constantFrom('\n', '\r', '\t', '\u0000', '\u001b', '\u007f', '\u009b'))
    .map(([by, control]) => (text: string) => {
      const at = by % (text.length + 1);
      return `${text.slice(0, at)}${control}${text.slice(at)}`;
    }),
);

const mutation = fc.record({
  place: fc.nat(1_000),
  of: fc.oneof(fc.record({ change }), fc.record({ textChange })),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer One> ? One : never;

const mutated = (value: Json, { place, of }: Mutation): Json => {
  const root: Holder = { value: structuredClone(value) };
  const all = placesIn(root);
  const texts = all.filter(([holder, name]) => typeof holder[name] === 'string');
  const places = 'textChange' in of && texts.length > 0 ? texts : all;
  const [holder, name] = places[place % places.length] ?? [root, 'value'];
  const old = holder[name] ?? null;
  const next =
    'change' in of ? of.change(old) : of.textChange(typeof old === 'string' ? old : JSON.stringify(old));
  if (next !== undefined) holder[name] = next;
  else if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
  return root.value ?? null;
};

/** Values near those of `original`: something replaced, taken out, added or repeated, anywhere in them. */
export const mutatedJson = (original: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc
    .tuple(original, fc.array(mutation, { minLength: 1, maxLength: 2 }))
    .map(([value, mutations]) => mutations.reduce(mutated, value));
