import {
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  GetFunctionRecursionConfigCommand,
  LambdaClient,
  PutFunctionRecursionConfigCommand,
} from '@aws-sdk/client-lambda';
import type { ClientConfig } from '../../cli/aws/deployment.ts';

type Property = {
  readonly name: string;
  readonly isSet: () => Promise<boolean>;
  readonly set: () => Promise<unknown>;
};

const timeToLive = (dynamo: DynamoDBClient, TableName: string): Property => ({
  name: `the time to live of ${TableName}`,
  isSet: async () => {
    const { TimeToLiveDescription } = await dynamo.send(new DescribeTimeToLiveCommand({ TableName }));
    return TimeToLiveDescription?.TimeToLiveStatus?.startsWith('ENABL') ?? false;
  },
  set: () => {
    const input = { TableName, TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true } };
    return dynamo.send(new UpdateTimeToLiveCommand(input));
  },
});

const pointInTimeRecovery = (dynamo: DynamoDBClient, TableName: string): Property => ({
  name: `the point-in-time recovery of ${TableName}`,
  isSet: async () => {
    const answer = await dynamo.send(new DescribeContinuousBackupsCommand({ TableName }));
    const { PointInTimeRecoveryDescription: recovery } = answer.ContinuousBackupsDescription ?? {};
    return recovery?.PointInTimeRecoveryStatus === 'ENABLED';
  },
  set: () => {
    const input = { TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
    return dynamo.send(new UpdateContinuousBackupsCommand(input));
  },
});

const recursiveLoop = (lambda: LambdaClient, FunctionName: string): Property => ({
  name: `the recursive loop of ${FunctionName}`,
  isSet: async () => {
    const answer = await lambda.send(new GetFunctionRecursionConfigCommand({ FunctionName }));
    return answer.RecursiveLoop === 'Allow';
  },
  set: () => lambda.send(new PutFunctionRecursionConfigCommand({ FunctionName, RecursiveLoop: 'Allow' })),
});

/** Every table whose items expire. */
const expiringTables = ['Extractions', 'Tasks', 'Requests', 'Refusals', 'StartLine', 'Erasures'] as const;

/**
 * Switches on what an emulator's services have, but its CloudFormation ignores in the template: TTL, point-in-time recovery,
 * and the permission of reconcile-extraction to invoke itself through a queue. Returns what was not on. `output` is one of the stack:
 * '' for a table that an earlier version, as in `npm run upgrade`, lacks.
 */
export const completeStack = async (
  client: ClientConfig,
  output: (name: string) => string,
): Promise<readonly string[]> => {
  const dynamo = new DynamoDBClient(client);
  const properties = [
    ...expiringTables
      .flatMap((name) => output(`${name}TableName`) || [])
      .map((table) => timeToLive(dynamo, table)),
    pointInTimeRecovery(dynamo, output('ExtractionsTableName')),
    recursiveLoop(new LambdaClient(client), output('ReconcileFunctionName')),
  ];
  const ignored = await Promise.all(
    properties.map(async ({ name, isSet, set }) => {
      if (await isSet()) return [];
      await set();
      return [name];
    }),
  );
  return ignored.flat();
};
