import { Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { allow } from '../constructs/allow.ts';
import type { DataKey } from '../constructs/data-key.ts';
import { secretArn } from '../constructs/secrets.ts';
import type { Resources } from '../resources.ts';
import type { Contract } from './contracts.ts';
import { settingsOf } from './function-environment.ts';

/** What a function uses. The dispatcher is the one function that another one invokes, and is created before it. */
export type Used = Resources & { readonly dispatcher?: IFunction };

/** The environment variables that a contract names. A setting that is not set has none. */
export const environmentOf = (
  { settings, ...needed }: Contract,
  used: Used,
): Readonly<Record<string, string>> => {
  const named: Readonly<Record<string, Named>> = namedBy(used);
  const itsSettings = settingsOf(used.config);
  const variables = [
    ...Object.keys(needed).map((name) => [name, named[name]?.[0]] as const),
    ...settings.map((name) => [name, itsSettings[name]] as const),
  ];
  return Object.fromEntries(variables.filter((pair): pair is [string, string] => pair[1] !== undefined));
};

/** What a contract has actions on: the value of its variable, the service, and the ARN that the actions are on. */
type Named = readonly [value: string | undefined, service?: string, arn?: string | undefined];

const namedBy = ({
  storage,
  secrets,
  queue,
  eraseQueue,
  outcomeBus,
  dispatcher,
  machineArn,
  sealKey,
}: Used): Readonly<Record<Exclude<keyof Contract, 'settings'>, Named>> => {
  const table = ({ tableName, tableArn }: Table): Named => [tableName, 'dynamodb', tableArn];
  const queueOf = ({ queueUrl, queueArn }: Queue): Named => [queueUrl, 'sqs', queueArn];
  const secret = (name: string): Named => [name, 'secretsmanager', secretArn(Stack.of(secrets), name)];
  const everyResult = storage.results.arnForObjects('*');
  return {
    EXTRACTIONS_TABLE: table(storage.extractions),
    TASKS_TABLE: table(storage.tasks),
    REQUESTS_TABLE: table(storage.requests),
    BREAKERS_TABLE: table(storage.breakers),
    REFUSALS_TABLE: table(storage.refusals),
    START_LINE_TABLE: table(storage.startLine),
    ERASURES_TABLE: table(storage.erasures),
    RESULTS_BUCKET: [storage.results.bucketName, 's3', everyResult],
    resultsLocation: [undefined, 's3', everyResult],
    resultsList: [undefined, 's3', storage.results.bucketArn],
    PROVIDER_API_KEY_SECRET: secret(secrets.providerApiKey),
    WEBHOOK_SIGNING_KEY_SECRET: secret(secrets.webhookSigningKey),
    FINGERPRINT_KEY_SECRET: secret(secrets.fingerprintKey),
    RECONCILE_QUEUE_URL: queueOf(queue.queue),
    SLOW_QUEUE_URL: queueOf(queue.slow),
    ERASE_QUEUE_URL: queueOf(eraseQueue.queue),
    EVENT_BUS: [outcomeBus?.bus.eventBusName, 'events', outcomeBus?.bus.eventBusArn],
    DISPATCHER_NAME: [dispatcher?.functionName, 'lambda', dispatcher?.functionArn],
    STATE_MACHINE_ARN: [machineArn, 'states', machineArn],
    callbackToken: [undefined, 'states', machineArn],
    // Its own policy allows its use.
    SEAL_KEY_ARN: [sealKey.key.keyArn],
  };
};

/** The permissions that a contract names, with those on the data key that they need. */
export const permissionsOf = (contract: Contract, used: Used): readonly PolicyStatement[] => [
  ...Object.entries(namedBy(used)).flatMap(([name, [, service, arn]]) =>
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
    ...(onTables.length === 0 ? [] : [dataKey.allow(onlyReads ? 'readTables' : 'writeTables')]),
    // To delete or list takes no key.
    ...(contract.RESULTS_BUCKET?.includes('PutObject') ? [dataKey.allow('storeObjects')] : []),
    ...(contract.resultsLocation ? [dataKey.allow('readObjects')] : []),
    ...(names.some((name) => name.endsWith('_SECRET')) ? [dataKey.allow('readSecrets')] : []),
  ];
};
