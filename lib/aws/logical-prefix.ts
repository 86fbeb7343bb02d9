/**
 * With what the logical ids of a construct's resources begin, by the ids from its stack down to it: letters and digits only, as CDK makes
 * them (https://docs.aws.amazon.com/cdk/v2/guide/identifiers.html#identifiers-logical-ids). An id that ends the one above is left out.
 */
export const logicalPrefixOf = (ids: readonly string[]): string =>
  ids
    .filter((id) => id !== 'Default')
    .reduce<string[]>((kept, id) => (kept.at(-1)?.endsWith(id) ? kept : [...kept, id]), [])
    .map((id) => id.replace(/[^A-Za-z0-9]/g, ''))
    .join('');
