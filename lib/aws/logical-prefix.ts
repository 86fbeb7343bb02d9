/**
 * The prefix of the logical ids of a construct's resources, made from the ids of the constructs from its stack down to it. As in CDK, it
 * has only letters and digits (https://docs.aws.amazon.com/cdk/v2/guide/identifiers.html#identifiers-logical-ids). An id with which the id
 * above it ends is left out.
 */
export const logicalPrefixOf = (ids: readonly string[]): string => {
  const kept: string[] = [];
  for (const id of ids) {
    if (id !== 'Default' && !kept.at(-1)?.endsWith(id)) kept.push(id);
  }
  return kept.join('').replace(/[^A-Za-z0-9]/g, '');
};
