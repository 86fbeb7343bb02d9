/**
 * With what the logical ids of a construct's resources begin, by the ids from its stack down to it: letters and digits only, as CDK makes
 * them (https://docs.aws.amazon.com/cdk/v2/guide/identifiers.html#identifiers-logical-ids). An id that ends the one above is left out.
 */
export const logicalPrefixOf = (ids: readonly string[]): string => {
  const kept: string[] = [];
  for (const id of ids) {
    if (id !== 'Default' && !kept.at(-1)?.endsWith(id)) kept.push(id);
  }
  return kept.join('').replace(/[^A-Za-z0-9]/g, '');
};
