import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Removals } from '../extraction/erase/erase-extraction.ts';
import { withoutExtraction } from '../extraction/refused-credentials.ts';
import { dynamoRefusedCredentialsStore, unchangedMark } from './dynamo-refused-credentials-store.ts';
import { repeatsKey } from './dynamo-repeat-counter.ts';
import { dynamoTaskStore, taskExpiry } from './dynamo-task-store.ts';
import { conditional } from './items.ts';

/** The versions on a page, with delete markers. In a bucket without versioning, each object has one version, `null`. */
const versionsOf = ({ Versions = [], DeleteMarkers = [] }: ListObjectVersionsCommandOutput) =>
  [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));

/** Iterates the pages, for which the SDK has no paginator. Deleting the objects of one page does not change the next one. */
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

/**
 * Deletes every version of the objects with this prefix, one by one, and returns their number. An extraction has few: one for each
 * different answer that was stored. Throws the SDK's errors.
 */
export const removeObjects = async (client: S3Client, Bucket: string, prefix: string): Promise<number> => {
  let removed = 0;
  for await (const objects of versionPages(client, Bucket, prefix)) {
    for (const object of objects) {
      await client.send(new DeleteObjectCommand({ Bucket, ...object }));
      removed += 1;
    }
  }
  return removed;
};

export const countObjects = async (client: S3Client, Bucket: string, prefix: string): Promise<number> => {
  let count = 0;
  for await (const objects of versionPages(client, Bucket, prefix)) count += objects.length;
  return count;
};

type Places = {
  readonly dynamo: DynamoDBClient;
  readonly s3: S3Client;
  readonly tables: Readonly<Record<'extractions' | 'tasks' | 'refusals', string>>;
  readonly bucket: string;
  readonly now: () => Date;
};

/** The removals of one extraction from the tables and the bucket. Throws the SDK's errors. */
export const removalsOnAws = ({ dynamo, s3, tables, bucket, now }: Places): Removals => {
  const tasks = dynamoTaskStore(dynamo, tables.tasks, now);
  const refusals = dynamoRefusedCredentialsStore(dynamo, tables.refusals);
  /** Returns false if the condition of the command failed. */
  const changedIf = async (
    command: DeleteItemCommand | PutItemCommand | UpdateItemCommand,
  ): Promise<boolean> => (await conditional(dynamo.send(command as DeleteItemCommand))).refusal === undefined;
  return {
    removeRecord: ({ extractionId, requestId, status }) =>
      changedIf(
        new DeleteItemCommand({
          TableName: tables.extractions,
          Key: marshall({ extractionId }),
          ConditionExpression:
            'attribute_not_exists(extractionId) OR ' +
            '(attribute_not_exists(#dueShard) AND #status = :status AND requestId = :requestId)',
          ExpressionAttributeNames: { '#dueShard': 'dueShard', '#status': 'status' },
          ExpressionAttributeValues: marshall({ ':status': status, ':requestId': requestId }),
        }),
      ),
    getMac: async (taskId, extractionId) => {
      const task = await tasks.get(taskId);
      return task?.extractionId === extractionId ? task.credentialsMac : undefined;
    },
    removeMark: async (credentialsMac, extractionId) => {
      const of = { TableName: tables.refusals, Key: marshall({ credentialsMac }) };
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
    eraseTask: async (taskId, extractionId) => {
      await changedIf(
        new PutItemCommand({
          TableName: tables.tasks,
          Item: marshall({ taskId, isErased: true, expiresAt: taskExpiry(now()) }),
          ConditionExpression: 'attribute_not_exists(extractionId) OR extractionId = :extraction',
          ExpressionAttributeValues: marshall({ ':extraction': extractionId }),
        }),
      );
    },
    removeResults: (extractionId) => removeObjects(s3, bucket, `${extractionId}/`),
    removeRepeats: async (extractionId) => {
      await dynamo.send(new DeleteItemCommand({ TableName: tables.refusals, Key: repeatsKey(extractionId) }));
    },
  };
};
