import { createHash } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import type { Extraction, StoredResults } from '../../extraction/record.ts';
import type { Context } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { describeView, operatorView } from '../describe-record.ts';
import { CliError } from '../errors.ts';

export type GetOptions = { readonly results?: string };

/** Shows the record, or stores the results in a file. */
export const get = async (
  extractionId: string,
  { results: file }: GetOptions,
  { shell, connect }: Context,
): Promise<number> => {
  const system = await connect();
  const table = system.output('ExtractionsTableName');
  const record = await dynamoExtractionStore(new DynamoDBClient(system.client), table).get(extractionId);
  if (record === undefined)
    throw new CliError(`There is no extraction ${extractionId} in ${system.stackName}.`);
  if (file === undefined) {
    const view = operatorView(record);
    shell.print(describeView(view), view);
    return 0;
  }
  const stored = storedResults(record);
  const bytes = await download(system, stored);
  await shell.writePrivately(file, bytes);
  shell.print(`${bytes.byteLength} bytes in ${file}, SHA-256 as recorded.`, {
    ...{ extractionId, file, bytes: bytes.byteLength, sha256: stored.sha256 },
  });
  return 0;
};

const storedResults = ({
  extractionId,
  status,
  results,
  collectedAt,
  collectionError,
}: Extraction): StoredResults => {
  if (results !== undefined) return results;
  if (collectionError !== undefined) {
    throw new CliError(`The results of ${extractionId} will not come: ${collectionError}.`);
  }
  throw new CliError(
    collectedAt === undefined
      ? `${extractionId} is ${status}, and its results are not collected yet.`
      : `${extractionId} ended ${status}, which has no results.`,
  );
};

const download = async (
  { client, isEmulated }: Deployment,
  { bucket, key, sha256 }: StoredResults,
): Promise<Uint8Array> => {
  const s3 = new S3Client({ ...client, forcePathStyle: isEmulated });
  const { Body } = await s3
    .send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    .catch((cause: unknown) => {
      if (!(cause instanceof NoSuchKey)) throw cause;
      throw new CliError(
        'The bucket keeps these results no more: resultsRetentionDays are over, or they were erased.',
        {
          cause,
        },
      );
    });
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
  if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
  throw new CliError(
    'What the bucket holds is not what was recorded: its SHA-256 differs. Nothing was written.',
  );
};
