import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndexDescription,
} from '@aws-sdk/client-dynamodb';
import { type Finding, failed, passed } from './finding.ts';

type Table = {
  readonly name: string;
  readonly what: string;
  /** Whether it is the public one: with a stream, an index and point-in-time recovery. */
  readonly isContract: boolean;
};

const redeploy = 'Somebody changed it outside of the stack: deploy it again, or set it back.';

/** Whether a table is as the stack makes it. */
export const checkTable = async (
  client: DynamoDBClient,
  { name, what, isContract }: Table,
): Promise<Finding> => {
  const [{ Table }, { TimeToLiveDescription }] = await Promise.all([
    client.send(new DescribeTableCommand({ TableName: name })),
    client.send(new DescribeTimeToLiveCommand({ TableName: name })),
  ]);
  const index = Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === 'due');
  const missing = [
    ...(Table?.TableStatus === 'ACTIVE' ? [] : [`it is ${String(Table?.TableStatus)}`]),
    ...(/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '') ? [] : ['TTL is off']),
    ...(!isContract || Table?.StreamSpecification?.StreamViewType === 'NEW_AND_OLD_IMAGES'
      ? []
      : ['its stream is off, or not of both images']),
    ...(!isContract || isUsable(index) ? [] : ['the index due is gone, or not ACTIVE']),
    ...(!isContract || (await isRecoverable(client, name)) ? [] : ['point-in-time recovery is off']),
  ];
  if (missing.length > 0) return failed(`table ${what}: ${missing.join(', ')}`, redeploy);
  return passed(
    `table ${what} is ACTIVE, with TTL${isContract ? ', stream, index and point-in-time recovery' : ''}`,
  );
};

/** Not every emulator gives an index a status. */
const isUsable = (index: GlobalSecondaryIndexDescription | undefined): boolean =>
  index !== undefined && (index.IndexStatus ?? 'ACTIVE') === 'ACTIVE';

const isRecoverable = async (client: DynamoDBClient, TableName: string): Promise<boolean> => {
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  return (
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED'
  );
};
