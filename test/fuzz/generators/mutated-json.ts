import fc from 'fast-check';
import { anyUnits } from './any-text.ts';
import { type Json, trickyNames } from './extraction-request.ts';

type Path = readonly (string | number)[];

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every place in a value, the value itself first. */
const placesIn = (value: Json, path: Path = []): readonly Path[] => {
  if (Array.isArray(value)) {
    return [path, ...value.flatMap((item: Json, index) => placesIn(item, [...path, index]))];
  }
  if (!isObject(value)) return [path];
  return [path, ...Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))];
};

const at = (value: Json, path: Path): Json | undefined =>
  path.reduce<Json | undefined>(
    (part, name) =>
      Array.isArray(part) ? part[Number(name)] : isObject(part) ? part[String(name)] : undefined,
    value,
  );

/** `value` with what is at `path` replaced by what `change` makes of it; undefined takes it out. */
const changed = (value: Json, path: Path, change: (old: Json) => Json | undefined): Json | undefined => {
  const [first, ...rest] = path;
  if (first === undefined) return change(value);
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    const next = changed(items[Number(first)] ?? null, rest, change);
    return items.flatMap((item, index) => (index !== first ? [item] : next === undefined ? [] : [next]));
  }
  if (!isObject(value)) return value;
  const next = changed(value[first] ?? null, rest, change);
  const entries = Object.entries(value).flatMap(([name, member]) =>
    name !== first ? [[name, member] as const] : next === undefined ? [] : [[name, next] as const],
  );
  return Object.fromEntries(entries);
};

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
  '2026-02-30',
  '2027-02-29',
  '2028-02-29',
  '0000-01-01',
  '10000-01-01',
  '-00001-01-01',
  '2026-13-01',
  '2026-1-1',
  '2026-01-01T00:00:00Z',
  '9999-12-31',
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

type Mutation = {
  readonly place: number;
  readonly kind: 'replace' | 'nudge' | 'remove' | 'add' | 'repeat';
  readonly value: Json;
  readonly name: string;
  readonly times: number;
};

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(1_000),
  kind: fc.constantFrom('replace', 'nudge', 'nudge', 'remove', 'add', 'repeat'),
  value: anyValue,
  name: fc.oneof(fc.constantFrom(...fieldNames), anyUnits({ maxLength: 5 })),
  times: fc.constantFrom(2, 3, 51),
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

const controlCharacters = ['\n', '\r', '\t', '\u0000', '\u001b', '\u007f', '\u009b'];

/**
 * A text with one of its digits another one, or with a letter or a control character more: a day later, a check digit that
 * is wrong, a line of its own.
 */
const nudged = (text: string, by: number): string => {
  if (by % 5 === 0) {
    const at = by % (text.length + 1);
    return `${text.slice(0, at)}${controlCharacters[by % controlCharacters.length]}${text.slice(at)}`;
  }
  if (/^\d{4}-\d\d-\d\d$/.test(text) && by % 3 > 0) return oddDays[by % oddDays.length] ?? text;
  const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
  const at = digits[by % Math.max(digits.length, 1)];
  if (at === undefined) return `${text}x`;
  return `${text.slice(0, at)}${(Number(text[at]) + 1) % 10}${text.slice(at + 1)}`;
};

const mutated = (value: Json, { place, kind, value: other, name, times }: Mutation): Json => {
  const all = placesIn(value);
  const places = kind === 'nudge' ? all.filter((one) => typeof at(value, one) === 'string') : all;
  const path = places[place % Math.max(places.length, 1)] ?? [];
  const next = changed(value, path, (old) => {
    if (kind === 'remove') return undefined;
    if (kind === 'nudge' && typeof old === 'string') return nudged(old, place);
    if (kind === 'add' && isObject(old)) return { ...old, [name]: other };
    if (kind === 'repeat' && Array.isArray(old))
      return Array.from({ length: times }, () => old).flat() as Json;
    return other;
  });
  return next === undefined ? null : next;
};

/** Values near those of `original`: something replaced, taken out, added or repeated, anywhere in them. */
export const mutatedJson = (original: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc
    .tuple(original, fc.array(mutation, { minLength: 1, maxLength: 2 }))
    .map(([value, mutations]) => mutations.reduce(mutated, value));
