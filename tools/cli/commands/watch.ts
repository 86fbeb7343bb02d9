import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { dynamoExtractionStore } from '../../../lib/aws/dynamo-extraction-store.ts';
import type { Deployment } from '../aws/deployment.ts';
import { describeStreamRecord, streamFacts } from '../aws/describe-stream-record.ts';
import { openStream } from '../aws/follow-stream.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import type { Shell } from '../terminal/shell.ts';
import type { Context } from './context.ts';
import { type FollowOptions, type FollowResult, followExtraction } from './follow-extraction.ts';

export type WatchOptions = Pick<FollowOptions, 'until' | 'timeout'>;

/** Prints the changes of one extraction until it is closed, or of all extractions until it is stopped. */
export const watch = async (
  extractionId: string | undefined,
  options: WatchOptions,
  { shell, connect }: Context,
): Promise<number> => {
  if (extractionId !== undefined) return watchOne(extractionId, options, await connect(), shell);
  if (options.until !== undefined || options.timeout !== undefined) {
    throw new UsageError('--until and --timeout are for one extraction. Name it.');
  }
  return watchAll(await connect(), shell);
};

/** Reads the record once a second. That starts from its current state, and uses no consumer slot of the stream. */
export const watchOne = async (
  extractionId: string,
  options: WatchOptions,
  { client, output, stage, stackName }: Deployment,
  shell: Shell,
): Promise<number> => {
  const { get } = dynamoExtractionStore(new DynamoDBClient(client), output('ExtractionsTableName'));
  const follow = { ...options, interrupted: shell.interrupted() };
  const result = await followExtraction(extractionId, follow, {
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
  if (result.kind === 'absent') throw new CliError(`There is no extraction ${extractionId} in ${stackName}.`);
  const { hint, code } = describeEnd(result, options);
  if (hint !== undefined) {
    shell.hint(
      `${hint} The extraction goes on; to continue: npx cosecha --stage ${stage} watch ${extractionId}`,
    );
  }
  return code;
};

type End = { readonly hint?: string; readonly code: number };

/** What to print if the extraction has not ended, and the exit code. */
export const describeEnd = (
  { kind, status }: Exclude<FollowResult, { kind: 'absent' }>,
  { timeout = 0 }: WatchOptions,
): End => {
  if (kind === 'interrupted') return { hint: 'Stopped watching.', code: exitCodes.interrupted };
  if (kind === 'timed-out') {
    return { hint: `Still ${status} after ${formatSeconds(timeout)}.`, code: exitCodes.timedOut };
  }
  return { code: status === 'COMPLETED' ? exitCodes.done : exitCodes.otherOutcome };
};

/** Reads the stream from its end, as a table does not notify anybody of its changes. */
const watchAll = async ({ client, output }: Deployment, shell: Shell): Promise<number> => {
  const records = await openStream(
    new DynamoDBStreamsClient(client),
    output('ExtractionsStreamArn'),
    new AbortController().signal,
  );
  shell.hint(
    'Watching all extractions; Ctrl-C stops it. This uses one of the two consumer slots of each shard of the stream.',
  );
  for await (const record of records) {
    const facts = streamFacts(record);
    const at = facts.at ?? shell.now().toISOString();
    shell.print(`${at}  ${facts.extractionId}  ${describeStreamRecord(record)}`, facts);
  }
  return 0;
};
