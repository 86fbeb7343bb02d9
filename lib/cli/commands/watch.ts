import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import { describeStreamRecord } from '../aws/describe-stream-record.ts';
import { openStream } from '../aws/follow-stream.ts';
import type { Context } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { CliError } from '../errors.ts';
import { type FollowResult, followExtraction } from '../follow-extraction.ts';
import type { Shell } from '../shell.ts';

/** Watches one extraction until it is closed, or everything until it is stopped. */
export const watch = async (
  extractionId: string | undefined,
  { shell, connect }: Context,
): Promise<number> => {
  const system = await connect();
  return extractionId === undefined ? watchAll(system, shell) : watchOne(extractionId, system, shell);
};

/**
 * By reading the record, once a second: that starts from where it is, costs one small read, and takes none of the two
 * places that each shard of the stream has for readers.
 */
export const watchOne = async (extractionId: string, system: Deployment, shell: Shell): Promise<number> => {
  const { get } = dynamoExtractionStore(
    new DynamoDBClient(system.client),
    system.output('ExtractionsTableName'),
  );
  const ended = await followExtraction(extractionId, {
    get,
    ...{ now: shell.now, sleep: shell.sleep },
    onChange: (line, facts) => {
      shell.wait(undefined);
      shell.print(line, facts);
    },
    onWait: shell.wait,
  });
  shell.wait(undefined);
  return exitCodeOf(ended, extractionId, system);
};

const exitCodeOf = (ended: FollowResult, extractionId: string, { stackName }: Deployment): number => {
  if (ended === 'absent') throw new CliError(`There is no extraction ${extractionId} in ${stackName}.`);
  return ended === 'COMPLETED' ? 0 : 1;
};

/** By the stream, from now on: the table itself tells nobody of what changes. */
const watchAll = async (system: Deployment, shell: Shell): Promise<number> => {
  const records = await openStream(
    new DynamoDBStreamsClient(system.client),
    system.output('ExtractionsStreamArn'),
    new AbortController().signal,
  );
  shell.hint(
    'Watching everything; Ctrl-C ends it. Each shard of the stream has room for two readers: this is one.',
  );
  for await (const record of records) {
    const { Keys, OldImage, NewImage } = record.dynamodb ?? {};
    const extractionId = Keys?.extractionId?.S;
    const at = record.dynamodb?.ApproximateCreationDateTime?.toISOString();
    shell.print(`${at ?? shell.now().toISOString()}  ${extractionId}  ${describeStreamRecord(record)}`, {
      ...{ at, extractionId, eventName: record.eventName },
      ...{ before: OldImage?.status?.S, status: NewImage?.status?.S },
    });
  }
  return 0;
};
