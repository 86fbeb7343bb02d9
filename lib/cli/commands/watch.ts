import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import { describeStreamRecord } from '../aws/describe-stream-record.ts';
import { openStream } from '../aws/follow-stream.ts';
import type { Context } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { CliError } from '../errors.ts';
import { followExtraction } from '../follow-extraction.ts';
import type { Shell } from '../shell.ts';

/** Prints the changes of one extraction until it is closed, or of all extractions until it is stopped. */
export const watch = async (
  extractionId: string | undefined,
  { shell, connect }: Context,
): Promise<number> => {
  const deployment = await connect();
  return extractionId === undefined ? watchAll(deployment, shell) : watchOne(extractionId, deployment, shell);
};

/** Reads the record once a second. That starts from its current state, and uses no reader slot of the stream. */
export const watchOne = async (
  extractionId: string,
  { client, output, stackName }: Deployment,
  shell: Shell,
): Promise<number> => {
  const { get } = dynamoExtractionStore(new DynamoDBClient(client), output('ExtractionsTableName'));
  const result = await followExtraction(extractionId, {
    get,
    now: shell.now,
    sleep: shell.sleep,
    onChange: (line, facts) => {
      shell.wait(undefined);
      shell.print(line, facts);
    },
    onWait: shell.wait,
  });
  shell.wait(undefined);
  if (result === 'absent') throw new CliError(`There is no extraction ${extractionId} in ${stackName}.`);
  return result === 'COMPLETED' ? 0 : 1;
};

/** Reads the stream from its end, as a table does not notify anybody of its changes. */
const watchAll = async ({ client, output }: Deployment, shell: Shell): Promise<number> => {
  const records = await openStream(
    new DynamoDBStreamsClient(client),
    output('ExtractionsStreamArn'),
    new AbortController().signal,
  );
  shell.hint(
    'Watching all extractions; Ctrl-C stops it. This uses one of the two reader slots of each shard of the stream.',
  );
  for await (const record of records) {
    const { Keys, OldImage, NewImage, ApproximateCreationDateTime } = record.dynamodb ?? {};
    const extractionId = Keys?.extractionId?.S;
    const at = ApproximateCreationDateTime?.toISOString();
    shell.print(`${at ?? shell.now().toISOString()}  ${extractionId}  ${describeStreamRecord(record)}`, {
      at,
      extractionId,
      eventName: record.eventName,
      before: OldImage?.status?.S,
      status: NewImage?.status?.S,
    });
  }
  return 0;
};
