import { Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { allow } from '../constructs/allow.ts';
import { readingSecret } from '../constructs/secrets.ts';
import type { Resources } from '../resources.ts';
import type { Contract } from './contracts.ts';
import type { Used } from './function-environment.ts';

/** The permissions that a contract names, with those on the data key that they need. The seal key's own policy has its. */
export const permissionsOf = (contract: Contract, resources: Used): readonly PolicyStatement[] => [
  ...onTables(contract, resources),
  ...onResults(contract, resources),
  ...onSecrets(contract, resources),
  ...on('sqs', contract.RECONCILE_QUEUE_URL, resources.queue.queue.queueArn),
  ...on('sqs', contract.SLOW_QUEUE_URL, resources.queue.slow.queueArn),
  ...on('sqs', contract.ERASE_QUEUE_URL, resources.eraseQueue.queue.queueArn),
  ...on('events', contract.EVENT_BUS, resources.outcomeBus?.bus.eventBusArn ?? ''),
  ...on('lambda', contract.DISPATCHER_NAME, resources.dispatcher?.functionArn ?? ''),
  ...on(
    'states',
    [...(contract.STATE_MACHINE_ARN ?? []), ...(contract.callbackToken ?? [])],
    resources.machineArn,
  ),
];

const on = (
  service: string,
  actions: readonly string[] | undefined,
  resource: string,
  conditions?: Parameters<typeof allow>[2],
): readonly PolicyStatement[] =>
  actions === undefined || actions.length === 0
    ? []
    : [
        allow(
          actions.map((action) => `${service}:${action}`),
          [resource],
          conditions,
        ),
      ];

/** `Query due` is a query of the index `due`. `UpdateItem repeats/*` is one of items whose keys begin with `repeats/`. */
const onTable = (its: readonly string[], tableArn: string): readonly PolicyStatement[] =>
  Object.entries(Object.groupBy(its, (action): string => action.split(' ')[1] ?? '')).flatMap(
    ([part, group = []]) => {
      const actions = group.map((action) => action.split(' ')[0] ?? '');
      if (!part.endsWith('/*'))
        return on('dynamodb', actions, part === '' ? tableArn : `${tableArn}/index/${part}`);
      // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
      const keys = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [part] } };
      return on('dynamodb', actions, tableArn, keys);
    },
  );

const onTables = (contract: Contract, { storage, dataKey }: Resources): readonly PolicyStatement[] => {
  const tables = [
    [contract.EXTRACTIONS_TABLE, storage.extractions],
    [contract.TASKS_TABLE, storage.tasks],
    [contract.REQUESTS_TABLE, storage.requests],
    [contract.BREAKERS_TABLE, storage.breakers],
    [contract.REFUSALS_TABLE, storage.refusals],
    [contract.START_LINE_TABLE, storage.startLine],
    [contract.ERASURES_TABLE, storage.erasures],
  ] as const;
  const actions = tables.flatMap(([its]): readonly string[] => its ?? []);
  if (actions.length === 0) return [];
  const onlyReads = actions.every((action) => /^(BatchGetItem|GetItem|Query)/.test(action));
  return [
    ...tables.flatMap(([its = [], { tableArn }]) => onTable(its, tableArn)),
    onlyReads ? dataKey.readingTables() : dataKey.writingTables(),
  ];
};

const onResults = (contract: Contract, { storage, dataKey }: Resources): readonly PolicyStatement[] => [
  ...onBucket(contract.RESULTS_BUCKET ?? [], storage),
  // To delete or list takes no key.
  ...(contract.RESULTS_BUCKET?.includes('PutObject') === true ? [dataKey.storingObjects()] : []),
  ...(contract.resultsLocation === undefined
    ? []
    : [storage.onResults('GetObject'), dataKey.readingObjects()]),
];

/** A list is of the bucket, and all else is of its objects. */
const onBucket = (
  its: NonNullable<Contract['RESULTS_BUCKET']>,
  { results }: Resources['storage'],
): readonly PolicyStatement[] => {
  const [listing, others] = [
    its.filter((one) => one === 'ListBucketVersions'),
    its.filter((one) => one !== 'ListBucketVersions'),
  ];
  return [...on('s3', others, results.arnForObjects('*')), ...on('s3', listing, results.bucketArn)];
};

const onSecrets = (contract: Contract, { secrets, dataKey }: Resources): readonly PolicyStatement[] => {
  const read = [
    contract.PROVIDER_API_KEY_SECRET && secrets.providerApiKey,
    contract.WEBHOOK_SIGNING_KEY_SECRET && secrets.webhookSigningKey,
    contract.FINGERPRINT_KEY_SECRET && secrets.fingerprintKey,
  ].filter((name) => name !== undefined);
  if (read.length === 0) return [];
  return [...read.map((name) => readingSecret(Stack.of(secrets), name)), dataKey.readingSecrets()];
};
