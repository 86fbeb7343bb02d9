import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import {
  dynamoRefusedCredentialsStore,
  unchangedMark,
} from '../../../lib/aws/dynamo-refused-credentials-store.ts';
import { dynamoRequestStore } from '../../../lib/aws/dynamo-request-store.ts';
import { dynamoTaskStore } from '../../../lib/aws/dynamo-task-store.ts';
import type { EraseDeps } from '../../../lib/extraction/operate/erase.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { withoutExtraction } from '../../../lib/extraction/refused-credentials.ts';
import type { Deployment } from '../aws/deployment.ts';
import { CliError } from '../terminal/errors.ts';

/** S3 did not delete some of the objects. The message has their number and S3's codes. */
export class ResultsNotDeleted extends Error {
  override readonly name = 'ResultsNotDeleted';
}

type EraseResources = Pick<Deployment, 'output'> & { readonly dynamo: DynamoDBClient; readonly s3: S3Client };

/** The versions of a page, delete markers included; in a bucket without versioning each object is its version `null`. */
const versionsOf = ({ Versions = [], DeleteMarkers = [] }: ListObjectVersionsCommandOutput) =>
  [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));

/** The SDK has no paginator for these. Deleting the objects of one page does not change the next. */
async function* versionPages(client: S3Client, Bucket: string, Prefix: string) {
  let markers: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined = {};
  while (markers !== undefined) {
    const page: ListObjectVersionsCommandOutput = await client.send(
      new ListObjectVersionsCommand({ Bucket, Prefix, ...markers }),
    );
    yield versionsOf(page);
    markers = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
      : undefined;
  }
}

/** Deletes every version of the objects with this prefix, and returns their number. Throws ResultsNotDeleted. */
export const removeObjects = async (client: S3Client, Bucket: string, prefix: string): Promise<number> => {
  let removed = 0;
  // At most 1,000 a page, and DeleteObjects accepts as many.
  for await (const Objects of versionPages(client, Bucket, prefix)) {
    if (Objects.length === 0) continue;
    const { Errors = [] } = await client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
    );
    if (Errors.length > 0) {
      const codes = [...new Set(Errors.map(({ Code }) => Code))].join(', ');
      throw new ResultsNotDeleted(`S3 did not delete ${Errors.length} objects: ${codes}.`);
    }
    removed += Objects.length;
  }
  return removed;
};

type Removals = Omit<EraseDeps, 'reconcileTimeout' | 'recordRetention'>;

/** Reads an item, and DynamoDB's own time in seconds: the `Date` of the answer (RFC 9110, section 6.6.1). */
const getDated = async (client: DynamoDBClient, TableName: string, extractionId: string) => {
  const command = new GetItemCommand({ TableName, Key: marshall({ extractionId }), ConsistentRead: true });
  let date: string | undefined;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      date = (result.response as { readonly headers?: Readonly<Record<string, string>> }).headers?.date;
      return result;
    },
    { step: 'deserialize' },
  );
  const { Item } = await client.send(command);
  const at = new Date(date ?? '');
  if (Number.isNaN(at.getTime())) throw new CliError('The answer of DynamoDB has no date.');
  return { record: Item === undefined ? undefined : (unmarshall(Item) as Extraction), at };
};

export const eraseOnAws = ({ dynamo, s3, output }: EraseResources, now: () => Date): Removals => {
  const extractionsTable = output('ExtractionsTableName');
  const tasksTable = output('TasksTableName');
  const refusalsTable = output('RefusalsTableName');
  const Bucket = output('ResultsBucketName');
  const tasks = dynamoTaskStore(dynamo, tasksTable, now);
  const requests = dynamoRequestStore(dynamo, output('RequestsTableName'));
  const refusals = dynamoRefusedCredentialsStore(dynamo, refusalsTable);
  /** False where the condition does not hold. */
  const changedIf = async (command: DeleteItemCommand | UpdateItemCommand): Promise<boolean> => {
    try {
      await dynamo.send(command as DeleteItemCommand);
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  };
  return {
    getRecord: (extractionId) => getDated(dynamo, extractionsTable, extractionId),
    removeRecord: (extractionId, status) =>
      changedIf(
        new DeleteItemCommand({
          TableName: extractionsTable,
          Key: marshall({ extractionId }),
          ConditionExpression:
            'attribute_not_exists(extractionId) OR (attribute_not_exists(#dueShard) AND #status = :status)',
          ExpressionAttributeNames: { '#dueShard': 'dueShard', '#status': 'status' },
          ExpressionAttributeValues: marshall({ ':status': status }),
        }),
      ),
    getMac: async (taskId, extractionId) => {
      const task = await tasks.get(taskId);
      return task?.extractionId === extractionId ? task.credentialsMac : undefined;
    },
    hasMark: async (mac, extractionId) =>
      (await refusals.get(mac))?.extractionIds.includes(extractionId) === true,
    removeMark: async (credentialsMac, extractionId) => {
      const of = { TableName: refusalsTable, Key: marshall({ credentialsMac }) };
      for (;;) {
        const mark = await refusals.get(credentialsMac);
        if (mark === undefined || !mark.extractionIds.includes(extractionId)) return;
        const left = withoutExtraction(mark, extractionId);
        const condition = unchangedMark(mark);
        const isDone = await changedIf(
          left === undefined
            ? new DeleteItemCommand({ ...of, ...condition })
            : new UpdateItemCommand({
                ...of,
                ...condition,
                UpdateExpression: 'SET extractionIds = :left',
                ExpressionAttributeValues: {
                  ...condition.ExpressionAttributeValues,
                  ...marshall({ ':left': left.extractionIds }),
                },
              }),
        );
        if (isDone) return;
      }
    },
    hasTask: async (taskId, extractionId) => {
      const task = await tasks.get(taskId);
      return task !== undefined && (task.extractionId ?? extractionId) === extractionId;
    },
    removeTask: async (taskId, extractionId) => {
      await changedIf(
        new DeleteItemCommand({
          TableName: tasksTable,
          Key: marshall({ taskId }),
          ConditionExpression: 'attribute_not_exists(extractionId) OR extractionId = :extraction',
          ExpressionAttributeValues: marshall({ ':extraction': extractionId }),
        }),
      );
    },
    requests,
    removeResults: (extractionId) => removeObjects(s3, Bucket, `${extractionId}/`),
    countResults: async (extractionId) => {
      let count = 0;
      for await (const objects of versionPages(s3, Bucket, `${extractionId}/`)) count += objects.length;
      return count;
    },
  };
};
