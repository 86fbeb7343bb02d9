import { Aws, CfnOutput, Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { isLocalStage } from '../lib/aws/stage.ts';
import type { Connected } from './lambda/connect-functions.ts';
import type { CosechaFunctions } from './lambda/create-functions.ts';
import { acceptedRequestsOf } from './lambda/function-environment.ts';
import { prefixOf } from './prefix-of.ts';
import type { Resources } from './resources.ts';
import type { Config } from './settings/config.ts';

type Outputs = Readonly<Record<string, readonly [value: string, description: string]>>;

/** The outputs of the stack. People, the CLI and downstream stacks rely on their names. */
export const addOutputs = (
  scope: Construct,
  resources: Resources,
  functions: CosechaFunctions,
  connected: Connected,
): void => {
  const outputs = {
    ...settingOutputs(resources.config),
    ...apiOutputs(scope, resources.config, connected),
    ...dataOutputs(resources),
    ...functionOutputs(resources, functions),
    ...operatingOutputs(scope, connected),
  };
  for (const [id, [value, description]] of Object.entries(outputs)) {
    // `ApiUrl` in the stack of this repository, and `BankApiUrl` where the construct has the id `Bank`: without CDK's hash.
    new CfnOutput(scope, id, { value, description }).overrideLogicalId(`${prefixOf(scope)}${id}`);
  }
};

const settingOutputs = (config: Config): Outputs => {
  const accepted = acceptedRequestsOf(config);
  return {
    Stage: [config.stage, 'The stage, as in `cosecha --stage`'],
    SweepEveryMinutes: [
      String(config.sweepEveryMinutes),
      'The interval of the sweep: after three of them, `cosecha` calls a record overdue',
    ],
    ...(config.startsPerSecond !== undefined && {
      StartsPerSecond: [
        String(config.startsPerSecond),
        'The setting: how many starts are made a second, unless `cosecha rate` sets another rate',
      ],
    }),
    ...(Object.keys(accepted).length > 0 && {
      AcceptedRequests: [
        JSON.stringify(accepted),
        'The settings entities and moreActions: `cosecha start --batch` checks its file by them, and `cosecha doctor` compares them',
      ],
    }),
  };
};

const apiOutputs = (scope: Construct, config: Config, { api }: Connected): Outputs => {
  const { customDomain } = api;
  const cosecha = commandLine(scope, config);
  return {
    ApiUrl: [api.url, 'The base address of the API, without a slash at the end'],
    ApiId: [api.api.apiId, 'The id of the API'],
    Routes: [
      Stack.of(scope).toJsonString(api.functionOfRoute),
      'The function behind each route of the API: `cosecha doctor` compares it',
    ],
    WebhookUrl: [api.webhookUrl, 'The address to register at the provider for webhooks'],
    ...(customDomain && {
      CustomDomainTarget: [
        customDomain.target,
        // A description cannot refer to what only the deployment knows.
        `Point ${Token.isUnresolved(customDomain.name) ? 'the domain' : customDomain.name} here (CNAME or alias); a new stack has a new target`,
      ],
    }),
    FillProviderApiKey: [`${cosecha} fill api-key`, "This command prompts for the provider's API key"],
    FillWebhookSigningKey: [
      `${cosecha} fill signing-key`,
      "This command prompts for the provider's signing key",
    ],
  };
};

const dataOutputs = ({ storage, dataKey }: Resources): Outputs => ({
  ExtractionsTableName: [storage.extractions.tableName, 'The table with one record per extraction'],
  ExtractionsTableArn: [storage.extractions.tableArn, 'The ARN of that table'],
  ExtractionsStreamArn: [storage.streamArn, 'The stream that downstream services read (docs/stream.md)'],
  DataKeyArn: [dataKey.key.keyArn, 'The key that encrypts the tables, the stream, the results and the logs'],
  TasksTableName: [
    storage.tasks.tableName,
    'The private table where webhooks and start-task find each other',
  ],
  RequestsTableName: [
    storage.requests.tableName,
    'The private table with what is sealed of each request, until it has been used',
  ],
  RefusalsTableName: [
    storage.refusals.tableName,
    'The private table of credentials that the bank refused: `cosecha forget-refusals` writes it',
  ],
  BreakersTableName: [
    storage.breakers.tableName,
    'The table of the breakers: `cosecha pause` and `cosecha resume` write it',
  ],
  StartLineTableName: [
    storage.startLine.tableName,
    'The private table of starts that wait for the rate of the provider',
  ],
  ErasuresTableName: [
    storage.erasures.tableName,
    'The private table of what was to be erased, and what was: `cosecha erase` and `cosecha restore` use it',
  ],
  ResultsBucketName: [
    storage.results.bucketName,
    'The bucket with the results, unchanged as the provider returned them',
  ],
});

/** Functions, and the queues and the bus between them. */
const functionOutputs = (
  { config, queue, eraseQueue, outcomeBus }: Resources,
  functions: CosechaFunctions,
): Outputs => ({
  ReconcileFunctionName: [
    functions.reconcileExtraction.function.functionName,
    'The function that reconciles one extraction: `cosecha reconcile <extractionId>` invokes it',
  ],
  SweepFunctionName: [
    functions.sweepExtractions.function.functionName,
    'The function of the sweep: `cosecha reconcile --all-due` invokes it',
  ],
  ReconcileQueueUrl: [
    queue.queue.queueUrl,
    'The queue of extractions to reconcile. Its messages contain ids and causes',
  ],
  SlowQueueUrl: [queue.slow.queueUrl, 'The queue of those whose reads fail or take long'],
  ReconcileConcurrency: [
    String(config.reconcileConcurrency),
    'The most messages of each of these queues that are reconciled at once: `cosecha doctor` compares it',
  ],
  DeadLetterQueueUrl: [
    queue.deadLetters.queueUrl,
    'The queue with messages that failed at every receive: `cosecha redrive` reconciles their extractions',
  ],
  EraseQueueUrl: [eraseQueue.queue.queueUrl, 'The queue of extractions to erase. Its messages contain ids'],
  EraseDeadLetterQueueUrl: [
    eraseQueue.deadLetters.queueUrl,
    'The queue with messages of erasures that failed at every receive',
  ],
  ...(outcomeBus &&
    functions.publishEvents && {
      EventBusArn: [
        outcomeBus.bus.eventBusArn,
        'The bus with outcomes, for any number of consumers (docs/stream.md)',
      ],
      PublishFunctionName: [
        functions.publishEvents.function.functionName,
        'The function that publishes outcomes to the bus: `cosecha doctor` reads its event source mapping',
      ],
      EventDeadLetterQueueUrl: [
        outcomeBus.deadLetters.queueUrl,
        'The queue with positions in the stream that could not be published',
      ],
    }),
});

const operatingOutputs = (
  scope: Construct,
  { machine, triggers, dashboard, policies }: Connected,
): Outputs => ({
  Triggers: [
    Stack.of(scope).toJsonString(triggers),
    'The rules and event source mappings that invoke functions, and what does not happen without each: `cosecha doctor` checks them',
  ],
  StateMachineArn: [
    machine.stateMachineArn,
    'The state machine, with one execution per extraction, named by its id',
  ],
  DashboardName: [dashboard.name, 'The dashboard in CloudWatch, under Dashboards'],
  ViewerPolicyArn: [
    policies.viewer.managedPolicyArn,
    'Attach it to people who may read: the commands that read, without results (docs/cli.md)',
  ],
  OperatorPolicyArn: [
    policies.operator.managedPolicyArn,
    'Attach it beside ViewerPolicyArn to operators: request, reconcile, redrive, pause, and read results',
  ],
  AdminPolicyArn: [
    policies.admin.managedPolicyArn,
    'Attach it beside the other two to administrators: the signing key, the API key, erase, forget refusals, restore',
  ],
});

/** A command of the command line for this deployment. The stage of an emulator has its own region. */
const commandLine = (scope: Construct, { stage }: Config): string => {
  const stack = Stack.of(scope);
  const ids = scope.node.scopes.slice(scope.node.scopes.indexOf(stack) + 1).map(({ node }) => node.id);
  return [
    `npm exec --no -- cosecha --stage ${stage}`,
    // Without ids, it is the stack of this repository, which the stage names.
    ...(prefixOf(scope) === '' ? [] : [`--stack ${[stack.stackName, ...ids].join('/')}`]),
    ...(isLocalStage(stage) ? [] : [`--region ${Aws.REGION}`]),
  ].join(' ');
};
