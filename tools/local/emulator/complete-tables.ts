import {
  DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { Emulator } from './emulator.ts';

/**
 * Switches on TTL and point-in-time recovery. The emulator's DynamoDB has both, but its CloudFormation ignores them in the
 * template.
 */
export const completeTables = async (
  { client }: Pick<Emulator, 'client'>,
  outputs: Record<string, string>,
): Promise<void> => {
  const dynamo = new DynamoDBClient(client);
  const { ExtractionsTableName, TasksTableName } = outputs;
  const expiring = [ExtractionsTableName, TasksTableName].map((TableName) =>
    dynamo.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      }),
    ),
  );
  const recoverable = dynamo.send(
    new UpdateContinuousBackupsCommand({
      TableName: ExtractionsTableName,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  );
  await Promise.all([...expiring, recoverable]);
};
