import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStackResourceCommand } from '@aws-sdk/client-cloudformation';
import {
  DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { LambdaClient, PutFunctionRecursionConfigCommand } from '@aws-sdk/client-lambda';
import type { Emulator } from './emulator.ts';

/**
 * Switches on what the emulator's services have, but its CloudFormation ignores in the templates: TTL, point-in-time recovery,
 * and functions that may invoke themselves through a queue. `assembly` is the directory of the templates.
 */
export const completeStack = async (
  { client }: Pick<Emulator, 'client'>,
  outputs: Record<string, string>,
  assembly: string,
): Promise<void> => {
  await Promise.all([completeTables(client, outputs), completeFunctions(client, assembly)]);
};

const completeTables = async (client: Emulator['client'], outputs: Record<string, string>): Promise<void> => {
  const dynamo = new DynamoDBClient(client);
  const { ExtractionsTableName, TasksTableName, RequestsTableName } = outputs;
  const expiring = [ExtractionsTableName, TasksTableName, RequestsTableName].map((TableName) =>
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

type TemplateShape = {
  readonly Resources: Readonly<Record<string, { readonly Properties?: { readonly RecursiveLoop?: string } }>>;
};

const completeFunctions = async (client: Emulator['client'], assembly: string): Promise<void> => {
  const [cloudFormation, lambda] = [new CloudFormationClient(client), new LambdaClient(client)];
  const suffix = '.template.json';
  const files = (await readdir(assembly)).filter((file) => file.endsWith(suffix));
  for (const file of files) {
    const { Resources } = JSON.parse(await readFile(join(assembly, file), 'utf8')) as TemplateShape;
    const looping = Object.entries(Resources).filter(
      ([, { Properties }]) => Properties?.RecursiveLoop === 'Allow',
    );
    for (const [logicalResourceId] of looping) {
      const { StackResourceDetail } = await cloudFormation.send(
        new DescribeStackResourceCommand({
          StackName: file.slice(0, -suffix.length),
          LogicalResourceId: logicalResourceId,
        }),
      );
      const functionName = StackResourceDetail?.PhysicalResourceId;
      await lambda.send(
        new PutFunctionRecursionConfigCommand({ FunctionName: functionName, RecursiveLoop: 'Allow' }),
      );
    }
  }
};
