import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { dynamoBreakerStore, listBreakers } from '../../../lib/aws/dynamo-breaker-store.ts';
import { dynamoExtractionStore } from '../../../lib/aws/dynamo-extraction-store.ts';
import { dynamoRequestStore } from '../../../lib/aws/dynamo-request-store.ts';
import { dynamoTaskStore } from '../../../lib/aws/dynamo-task-store.ts';
import type { Extraction, StoredResults } from '../../../lib/extraction/record.ts';
import type { ExtractionStore, RequestStore, TaskStore } from '../../../lib/extraction/store.ts';
import type { LineEntry } from '../../../lib/rate-limit/start-line.ts';
import type { SharedItemStore, StoredItem } from '../../../lib/shared-item/shared-item.ts';
import { type Hold, holdsIn } from '../terminal/describe-hold.ts';
import { CliError } from '../terminal/errors.ts';
import type { Deployment } from './deployment.ts';

export const extractionsOf = ({ client, output }: Deployment): ExtractionStore =>
  dynamoExtractionStore(new DynamoDBClient(client), output('ExtractionsTableName'));

export const tasksOf = ({ client, output }: Deployment, now: () => Date): TaskStore =>
  dynamoTaskStore(new DynamoDBClient(client), output('TasksTableName'), now);

/**
 * Of an item of `StartLine` what an operator may read, which is no callback token. `isWaiting`: its execution waits to be released.
 */
export const readPlace = async ({ client, output }: Deployment, extractionId: string) => {
  const { Item } = await new DynamoDBClient(client).send(
    new GetItemCommand({
      TableName: output('StartLineTableName'),
      Key: marshall({ extractionId }),
      ConsistentRead: true,
      ProjectionExpression: 'extractionId, requestId, waitedMs, waitingSince, line',
    }),
  );
  if (Item === undefined) return undefined;
  const { line, ...place } = unmarshall(Item);
  return {
    ...(place as Pick<LineEntry, 'requestId' | 'waitedMs' | 'waitingSince'>),
    isWaiting: line !== undefined,
  };
};

export const requestsOf = ({ client, output }: Deployment): RequestStore =>
  dynamoRequestStore(new DynamoDBClient(client), output('RequestsTableName'));

/** The table `Breakers`, as tools use it. `list`: every item by its name. */
export type Breakers = SharedItemStore & { readonly list: () => Promise<ReadonlyMap<string, StoredItem>> };

export const dynamoBreakers = (dynamo: DynamoDBClient, table: string): Breakers => ({
  ...dynamoBreakerStore(dynamo, table),
  list: () => listBreakers(dynamo, table),
});

export const breakersOf = ({ client, output }: Deployment): Breakers =>
  dynamoBreakers(new DynamoDBClient(client), output('BreakersTableName'));

/** What holds calls to the provider now, the worst first. */
export const readHolds = async (breakers: Pick<Breakers, 'list'>, now: Date): Promise<readonly Hold[]> =>
  holdsIn(await breakers.list(), now);

export const s3Of = ({ client, isEmulated }: Deployment): S3Client =>
  new S3Client({ ...client, forcePathStyle: isEmulated });

/** The bytes of stored results. Undefined if the bucket no longer has them. Throws the SDK's errors. */
export const findResults = async (s3: S3Client, { bucket, key }: StoredResults) => {
  try {
    return (await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))).Body;
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
};

export const noExtraction = ({ stackName }: Deployment, extractionId: string): CliError =>
  new CliError(`There is no extraction ${extractionId} in ${stackName}.`);

export const requireRecord = async (deployment: Deployment, extractionId: string): Promise<Extraction> => {
  const record = await extractionsOf(deployment).get(extractionId);
  if (record !== undefined) return record;
  throw noExtraction(deployment, extractionId);
};

export const requireResults = (record: Extraction): StoredResults => {
  const { extractionId, status, results, collectionError, dueShard } = record;
  if (results !== undefined) return results;
  if (dueShard !== undefined) {
    throw new CliError(`${extractionId} is ${status} and still open. Its results are not collected yet.`);
  }
  throw new CliError(
    collectionError === undefined
      ? `${extractionId} is closed as ${status}, without results.`
      : `${extractionId} is closed as ${status}. Its results were not collected: ${collectionError}.`,
  );
};
