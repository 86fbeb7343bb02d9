import type { Schema } from './schema.ts';

const schemaVersionOf = ({ $defs = {} }: Schema): unknown =>
  $defs.CredentialsExtraction?.properties?.schemaVersion?.const;

/**
 * What a published schema promises and a new one does not keep, as sentences. A promise is an attribute with its type and
 * its presence. With another `schemaVersion` nothing is promised.
 */
export const findBreaks = (published: Schema, next: Schema): readonly string[] =>
  schemaVersionOf(published) === schemaVersionOf(next)
    ? breaksAt('', published, next).map(
        (what) => `${what} This needs a new schemaVersion (docs/stream.md, "Guarantees").`,
      )
    : [];

const exact = ['$ref', 'type', 'const', 'enum', 'pattern'] as const;

const breaksAt = (path: string, before: Schema, after: Schema | undefined): readonly string[] => {
  if (after === undefined) return [`${path} is gone or renamed.`];
  const changed = exact.filter(
    (keyword) =>
      before[keyword] !== undefined && JSON.stringify(before[keyword]) !== JSON.stringify(after[keyword]),
  );
  const optional = (before.required ?? []).filter((name) => !(after.required ?? []).includes(name));
  // A status that a later version adds is one more alternative.
  const alternatives = (before.anyOf ?? []).flatMap((one, index) =>
    breaksAt(path, one, after.anyOf?.[index]),
  );
  const inner = (['properties', '$defs'] as const).flatMap((keyword) =>
    Object.entries(before[keyword] ?? {}).flatMap(([name, schema]) =>
      breaksAt(path === '' ? name : `${path}.${name}`, schema, after[keyword]?.[name]),
    ),
  );
  return [
    ...changed.map((keyword) => `${path} has another ${keyword}.`),
    ...optional
      .filter((name) => after.properties?.[name] !== undefined)
      .map((name) => `${path}.${name} may be absent now.`),
    ...(before.items === undefined ? [] : breaksAt(`${path}[]`, before.items, after.items)),
    ...alternatives,
    ...inner,
  ];
};
