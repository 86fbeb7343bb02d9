import { Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { logicalPrefixOf } from '../lib/aws/logical-prefix.ts';

/** With what the outputs and the logical ids of a deployment begin: nothing in the stack of this repository, `Bank` where its id is `Bank`. */
export const prefixOf = (cosecha: IConstruct): string => {
  const { scopes } = cosecha.node;
  return logicalPrefixOf(scopes.slice(scopes.indexOf(Stack.of(cosecha)) + 1).map(({ node }) => node.id));
};
