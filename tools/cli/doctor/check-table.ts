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
  readonly label: string;
  /** The public table has a stream, an index and point-in-time recovery. */
  readonly isPublic: boolean;
};

const remedy = 'It was changed outside the stack. Deploy the stack again, or undo the change.';

/** Fails where a table is not as the stack makes it. */
export const checkTable = async (
  client: DynamoDBClient,
  { name, label, isPublic }: Table,
): Promise<Finding> => {
  const [{ Table }, { TimeToLiveDescription }] = await Promise.all([
    client.send(new DescribeTableCommand({ TableName: name })),
    client.send(new DescribeTimeToLiveCommand({ TableName: name })),
  ]);
  const index = Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === 'due');
  const missing = [
    ...(Table?.TableStatus === 'ACTIVE' ? [] : [`it is ${String(Table?.TableStatus)}`]),
    ...(/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '') ? [] : ['TTL is off']),
    ...(!isPublic || Table?.StreamSpecification?.StreamViewType === 'NEW_AND_OLD_IMAGES'
      ? []
      : ['its stream is off, or does not have both images']),
    ...(!isPublic || isUsable(index) ? [] : ['the index due is missing, or not ACTIVE']),
    ...(!isPublic || (await isRecoverable(client, name)) ? [] : ['point-in-time recovery is off']),
  ];
  if (missing.length > 0) return failed(`table ${label}: ${missing.join(', ')}`, remedy);
  return passed(
    `table ${label} is ACTIVE, with TTL${isPublic ? ', stream, index and point-in-time recovery' : ''}`,
  );
};

/** Some emulators give an index no status. */
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
