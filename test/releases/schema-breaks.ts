/** A JSON Schema, of which only the keywords that the contracts use are compared. */
export type Json = { readonly [keyword: string]: unknown };
type Files = Readonly<Record<string, Json>>;

/**
 * `read`: consumers read the values, so a new value has to be one that the release could have written. `sent`: callers send
 * them, so each value that the release took has to be taken still. Additions pass in both.
 */
export type Direction = 'read' | 'sent';

const sentences: Readonly<Record<Direction, Readonly<Record<Break['what'], string>>>> = {
  read: { gone: 'is gone or renamed', required: 'may be absent now', values: 'may have other values now' },
  sent: { gone: 'is gone or renamed', required: 'is required now', values: 'no longer takes every value' },
};

type Break = { readonly path: string; readonly what: 'gone' | 'required' | 'values' };

/** A schema, and the file against which its references resolve. */
type Place = { readonly schema: Json; readonly file: string; readonly files: Files };

const at = (place: Place, schema: unknown): Place => ({ ...place, schema: (schema ?? {}) as Json });
const record = (value: unknown): Json => (value ?? {}) as Json;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const resolve = (place: Place): Place => {
  const { $ref, ...siblings } = place.schema;
  if (typeof $ref !== 'string') return place;
  const [file, pointer = ''] = $ref.split('#');
  const name = file || place.file;
  const target = pointer
    .split('/')
    .filter((part) => part !== '')
    .reduce<unknown>((value, part) => record(value)[part], place.files[name]);
  const resolved = resolve({ ...place, file: name, schema: record(target) });
  return at(resolved, merge(resolved.schema, siblings));
};

/** Both schemas as one. Of two with alternatives, those of the second. */
const merge = (one: Json, other: Json): Json => ({
  ...one,
  ...other,
  properties: { ...record(one.properties), ...record(other.properties) },
  required: [...list(one.required), ...list(other.required)],
});

/** Without `$ref` and `allOf`. */
const flat = (place: Place): Place => {
  const resolved = resolve(place);
  const { allOf, ...rest } = resolved.schema;
  const parts = list(allOf).map((part) => flat(at(resolved, part)).schema);
  return at(
    resolved,
    parts.reduce<Json>((whole, part) => merge(part, whole), rest),
  );
};

const alternativesOf = ({ schema }: Place): readonly unknown[] => list(schema.anyOf ?? schema.oneOf);

const valuesOf = (schema: Json): readonly unknown[] | undefined =>
  'const' in schema ? [schema.const] : (schema.enum as readonly unknown[] | undefined);

const typesOf = (schema: Json): readonly unknown[] => {
  const values = valuesOf(schema);
  if (schema.type !== undefined) return [schema.type].flat();
  return values === undefined ? [] : [...new Set(values.map((value) => typeof value))];
};

const atMost = ['maxLength', 'maximum', 'maxItems', 'maxProperties'] as const;
const atLeast = ['minLength', 'minimum', 'minItems', 'minProperties'] as const;
const exact = ['pattern', 'format', 'uniqueItems', 'dependentRequired'] as const;

/** Whether a scalar of `inner` may be one that `outer` does not allow. */
const exceeds = (inner: Json, outer: Json): boolean => {
  const values = valuesOf(inner);
  const allowed = valuesOf(outer);
  if (allowed !== undefined)
    return values === undefined || values.some((value) => !allowed.some((one) => same(one, value)));
  const types = typesOf(outer);
  const isType = (type: unknown): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  if (types.length > 0 && (typesOf(inner).length === 0 || !typesOf(inner).every(isType))) return true;
  const { not } = outer;
  if (not !== undefined && !same(inner.not, not)) {
    const refused = list(record(not).enum);
    const innerRefused = list(record(inner.not).enum);
    const isRefused = (value: unknown): boolean => refused.includes(value);
    if (
      refused.length === 0 ||
      !(values ? !values.some(isRefused) : refused.every((one) => innerRefused.includes(one)))
    )
      return true;
  }
  if (values !== undefined) return false;
  return (
    exact.some((keyword) => outer[keyword] !== undefined && !same(inner[keyword], outer[keyword])) ||
    atMost.some((keyword) => Number(inner[keyword] ?? Infinity) > Number(outer[keyword] ?? Infinity)) ||
    atLeast.some((keyword) => Number(inner[keyword] ?? 0) < Number(outer[keyword] ?? 0)) ||
    (outer.additionalProperties === false && inner.additionalProperties !== false)
  );
};

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const nameOf = (alternative: unknown): string =>
  String(record(alternative).$ref ?? '')
    .split('/')
    .at(-1) ?? '';

/** Where a value of `inner` may be none of `outer`. `old` is that of the two which the release had. */
const outside = (
  path: string,
  inner: Place,
  outer: Place,
  old: 'inner' | 'outer',
  above: readonly string[] = [],
): readonly Break[] => {
  const step = `${inner.file} ${JSON.stringify(inner.schema)} ${outer.file} ${JSON.stringify(outer.schema)}`;
  // A schema that contains itself.
  if (above.includes(step)) return [];
  const deeper = (to: string, one: Place, other: Place) => outside(to, one, other, old, [...above, step]);
  const [within, around] = [flat(inner), flat(outer)];
  const innerOnes = alternativesOf(within);
  const outerOnes = alternativesOf(around);
  if (outerOnes.length > 0) {
    return (innerOnes.length > 0 ? innerOnes : [withoutAlternatives(within.schema)]).flatMap((one) => {
      const name = nameOf(one);
      const found = outerOnes.map((other) => ({
        name: nameOf(other),
        breaks: deeper(name === '' ? path : join(path, name), at(within, one), at(around, other)),
      }));
      // What is in none of them is compared with that of the same name, or with the nearest.
      const nearest = found.toSorted((a, b) => a.breaks.length - b.breaks.length)[0];
      if (nearest?.breaks.length === 0) return [];
      return (found.find((other) => name !== '' && other.name === name) ?? nearest)?.breaks ?? [];
    });
  }
  if (innerOnes.length > 0) return innerOnes.flatMap((one) => deeper(path, at(within, one), around));
  const [mine, theirs] = [record(within.schema.properties), record(around.schema.properties)];
  const [before, after] = old === 'inner' ? [mine, theirs] : [theirs, mine];
  const required = list(around.schema.required).filter(
    (name) => !list(within.schema.required).includes(name),
  );
  return [
    ...(exceeds(within.schema, around.schema) ? [{ path, what: 'values' } as const] : []),
    ...Object.keys(before)
      .filter((name) => !(name in after))
      .map((name) => ({ path: join(path, name), what: 'gone' }) as const),
    // One that is gone is reported as such.
    ...required
      .filter((name) => String(name) in after)
      .map((name) => ({ path: join(path, String(name)), what: 'required' }) as const),
    ...Object.keys(before)
      .filter((name) => name in after)
      .flatMap((name) => deeper(join(path, name), at(within, mine[name]), at(around, theirs[name]))),
    ...(around.schema.items === undefined
      ? []
      : deeper(`${path}[]`, at(within, within.schema.items), at(around, around.schema.items))),
  ];
};

const withoutAlternatives = ({ anyOf, oneOf, ...rest }: Json): Json => rest;

/** What a schema of the release promises and that of today does not keep, as sentences. `pointer` names both in their files. */
export const schemaBreaks = (
  path: string,
  [before, after]: readonly [Files, Files],
  [beforeRef, afterRef]: readonly [Json, Json],
  direction: Direction,
  file: string,
): readonly string[] => {
  const [old, now] = [
    { schema: beforeRef, file, files: before },
    { schema: afterRef, file, files: after },
  ];
  const found = direction === 'read' ? outside(path, now, old, 'outer') : outside(path, old, now, 'inner');
  return [
    ...new Set(found.map(({ path: where, what }) => `${where || file} ${sentences[direction][what]}.`)),
  ];
};
