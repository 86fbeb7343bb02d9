import { CfnOutput, type Stack } from 'aws-cdk-lib';
import type { CosechaFunctions, Resources } from './functions.ts';
import type { Wiring } from './wiring.ts';

type Output = readonly [id: string, value: string, description: string];

/** The outputs of the stack. People, the CLI and downstream stacks rely on their names. */
export const addOutputs = (
  stack: Stack,
  resources: Resources,
  functions: CosechaFunctions,
  wiring: Wiring,
): void => {
  const outputs = [
    ...apiOutputs(wiring),
    ...dataOutputs(resources, wiring),
    ...operatingOutputs(functions, wiring),
    ...secretOutputs(resources),
  ];
  for (const [id, value, description] of outputs) new CfnOutput(stack, id, { value, description });
};

const apiOutputs = ({ api }: Wiring): readonly Output[] => [
  ['ApiUrl', api.url, 'Base address of the API'],
  ['ApiId', api.api.apiId, 'Id of the API'],
  ['WebhookUrl', api.webhookUrl, 'Register this address at the provider'],
];

const dataOutputs = ({ storage, dataKey }: Resources, { streamArn, fanOut }: Wiring): readonly Output[] => {
  const bus: readonly Output[] =
    fanOut === undefined
      ? []
      : [['EventBusArn', fanOut.bus.eventBusArn, 'Outcomes, for any number of readers: docs/stream.md']];
  return [
    ['ExtractionsTableName', storage.extractions.tableName, 'The record of every extraction'],
    ['ExtractionsTableArn', storage.extractions.tableArn, 'The same, as an ARN'],
    ['ExtractionsStreamArn', streamArn, 'What downstream services read: docs/stream.md'],
    ...bus,
    ['DataKeyArn', dataKey.key.keyArn, 'Encrypts tables, stream, results and logs'],
    ['TasksTableName', storage.tasks.tableName, 'Private: the rendezvous of tasks and tokens'],
    ['ResultsBucketName', storage.results.bucketName, 'Results as the provider gave them'],
  ];
};

const operatingOutputs = (
  functions: CosechaFunctions,
  { machine, deadLetters, dashboard }: Wiring,
): readonly Output[] => [
  ['StateMachineArn', machine.stateMachineArn, 'One execution per extraction, named by its id'],
  [
    'ReconcileFunctionName',
    functions.reconcileExtraction.function.functionName,
    'Has one extraction looked at: `cosecha reconcile <extractionId>` invokes it',
  ],
  ['SweepFunctionName', functions.sweepExtractions.function.functionName, 'Invoke it to sweep now'],
  ['DeadLetterQueueUrl', deadLetters.queueUrl, 'What could not be reconciled'],
  ['DashboardName', dashboard.name, 'In CloudWatch, under Dashboards; how it goes, at a glance'],
];

const secretOutputs = ({ secrets }: Resources): readonly Output[] => [
  [
    'FillProviderApiKey',
    secrets.fillCommand(secrets.providerApiKey),
    "Run this in bash or zsh, then type the provider's API key",
  ],
  [
    'FillWebhookSigningKey',
    secrets.fillCommand(secrets.webhookSigningKey),
    "Run this in bash or zsh, then type the provider's webhook key",
  ],
];
