import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { allow } from '../constructs/allow.ts';
import type { DataKey } from '../constructs/data-key.ts';
import type { Contract } from './contracts.ts';
import { namedBy, type Used } from './function-environment.ts';

/** The permissions that a contract names, with those on the data key that they need. The seal key's own policy has its. */
export const permissionsOf = (contract: Contract, used: Used): readonly PolicyStatement[] => [
  ...Object.entries(namedBy(used)).flatMap(([name, { service, arn }]) =>
    statementsOn(service, arn, contract[name as keyof Contract] ?? []),
  ),
  ...onDataKey(contract, used.dataKey),
];

/** `Query due` is a query of the index `due`. `UpdateItem repeats/*` is one of items whose keys begin with `repeats/`. */
const statementsOn = (
  service: string | undefined,
  arn: string | undefined,
  its: readonly string[],
): readonly PolicyStatement[] => {
  if (service === undefined || arn === undefined) return [];
  const byPart = Object.groupBy(its, (action): string => action.split(' ')[1] ?? '');
  return Object.entries(byPart).map(([part, group = []]) => {
    const actions = group.map((action) => `${service}:${action.split(' ')[0]}`);
    if (!part.endsWith('/*')) return allow(actions, [part === '' ? arn : `${arn}/index/${part}`]);
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    return allow(actions, [arn], { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [part] } });
  });
};

const onDataKey = (contract: Contract, dataKey: DataKey): readonly PolicyStatement[] => {
  const names = Object.keys(contract);
  const onTables = Object.entries(contract).flatMap(([name, actions]) =>
    name.endsWith('_TABLE') ? actions : [],
  );
  const onlyReads = onTables.every((action) => /^(BatchGetItem|GetItem|Query)/.test(action));
  return [
    ...(onTables.length === 0 ? [] : [onlyReads ? dataKey.readingTables() : dataKey.writingTables()]),
    // To delete or list takes no key.
    ...(contract.RESULTS_BUCKET?.includes('PutObject') ? [dataKey.storingObjects()] : []),
    ...(contract.resultsLocation ? [dataKey.readingObjects()] : []),
    ...(names.some((name) => name.endsWith('_SECRET')) ? [dataKey.readingSecrets()] : []),
  ];
};
