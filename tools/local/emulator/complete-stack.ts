import {
  DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { LambdaClient, PutFunctionRecursionConfigCommand } from '@aws-sdk/client-lambda';
import type { Emulator } from './emulator.ts';

/**
 * Switches on what the emulator's services have, but its CloudFormation ignores in the template: TTL, point-in-time recovery,
 * and the permission of reconcile-extraction to invoke itself through a queue.
 */
export const completeStack = async (
  { client }: Pick<Emulator, 'client'>,
  outputs: Record<string, string>,
): Promise<void> => {
  const dynamo = new DynamoDBClient(client);
  const { ExtractionsTableName, ReconcileFunctionName } = outputs;
  const { TasksTableName, RequestsTableName, RefusalsTableName } = outputs;
  const timeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
  await Promise.all([
    ...[ExtractionsTableName, TasksTableName, RequestsTableName, RefusalsTableName].map((TableName) =>
      dynamo.send(
        new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: timeToLiveSpecification }),
      ),
    ),
    dynamo.send(
      new UpdateContinuousBackupsCommand({
        TableName: ExtractionsTableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    ),
    new LambdaClient(client).send(
      new PutFunctionRecursionConfigCommand({ FunctionName: ReconcileFunctionName, RecursiveLoop: 'Allow' }),
    ),
  ]);
};
