import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { dynamoNameIndex } from '../../../lib/aws/dynamo-extraction-store.ts';
import type { CancelAnswer } from '../../../lib/extraction/operate/cancel.ts';
import { type Extraction, entityOrProductOf } from '../../../lib/extraction/record.ts';
import type { Deployment } from '../aws/deployment.ts';
import { idsWithName, readExtractions } from '../aws/read-extractions.ts';
import { requireRecord } from '../aws/stores.ts';
import { cancelNow } from '../operate/invoke-functions.ts';
import { limitParallelCalls } from '../operate/limit-parallel-calls.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError, exitCodes, UsageError } from '../terminal/errors.ts';
import { callerName } from '../terminal/operator-view.ts';
import { progressOf } from '../terminal/progress-bar.ts';
import type { CommandContext } from './command-context.ts';
import { count } from './request-batch.ts';

type CancelOptions = { readonly batch?: string; readonly yes?: true };

export const cancel = async (
  extractionId: string | undefined,
  options: CancelOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const { batch, yes } = options;
  if ((extractionId === undefined) === (batch === undefined))
    throw new UsageError('Name one extraction, or use --batch.');
  const deployment = await connect();
  return batch === undefined
    ? cancelOne(extractionId ?? '', yes === true, deployment, shell)
    : cancelBatch(batch, yes === true, deployment, shell);
};

type Ended = Pick<Extraction, 'extractionId' | 'lastProblem'> & { readonly status: CancelAnswer['status'] };

/** Why this one is not cancelled. Undefined if it may be. */
const whyNotCancelled = ({ extractionId, status, lastProblem }: Ended): string | undefined => {
  switch (status) {
    case 'REQUESTED':
      return undefined;
    case 'STARTING':
      return `The start call of ${extractionId} is being made, so that it cannot be cancelled any more. It ends by itself.`;
    case 'RUNNING':
      return `${extractionId} runs at the provider, which cannot be asked to end it. It ends by itself.`;
    case 'GONE':
      return `There is no extraction ${extractionId} any more.`;
    default:
      return lastProblem === 'cancelled'
        ? `${extractionId} is cancelled already.`
        : `${extractionId} has ended already: ${status}. Nothing is left to cancel.`;
  }
};

const invokerOf = ({ client, output }: Deployment): ((extractionId: string) => Promise<CancelAnswer>) => {
  const lambda = new LambdaClient(client);
  const name = output('ReconcileFunctionName');
  return (extractionId) => cancelNow(lambda, name, { trigger: 'cancel', extractionId });
};

const cancelOne = async (
  extractionId: string,
  yes: boolean,
  deployment: Deployment,
  shell: Shell,
): Promise<number> => {
  const record = await requireRecord(deployment, extractionId);
  const { lastProblem } = record;
  // The wait in line of one whose cancellation was interrupted may not have ended.
  const wasCancelled = record.status === 'NOT_STARTED' && lastProblem === 'cancelled';
  const obstacle = whyNotCancelled(record);
  if (obstacle !== undefined && !wasCancelled) throw new CliError(obstacle);
  const question =
    `This ends ${extractionId} (${entityOrProductOf(record)}, of ${callerName(record.requestedBy)}) in ${deployment.stackName} before its ` +
    'start. It cannot be started again. Type its id to continue:';
  if (!(yes || wasCancelled || (await shell.confirm(question, extractionId))))
    throw new CliError('Nothing was cancelled: type the id at the prompt, or use --yes.');
  shell.wait('cancelling');
  const answer = await invokerOf(deployment)(extractionId);
  shell.wait(undefined);
  if (!answer.cancelled)
    throw new CliError(
      whyNotCancelled(answer) ?? `${extractionId} was not cancelled. Run this command again.`,
    );
  shell.print(`${extractionId} is cancelled. It ended NOT_STARTED, and nothing ran.`, answer);
  return exitCodes.done;
};

/** As many invocations at once as a new account, whose concurrency is 10, has beside what else runs. */
const atOnce = 5;

/** `12 of morning-run, 3 of nightly`. */
const callersOf = (records: readonly Extraction[]): string =>
  [...Map.groupBy(records, ({ requestedBy }) => callerName(requestedBy))]
    .map(([caller, { length }]) => `${count(length)} of ${caller}`)
    .join(', ');

const cancelBatch = async (
  batch: string,
  yes: boolean,
  deployment: Deployment,
  shell: Shell,
): Promise<number> => {
  const { client, output, stackName } = deployment;
  const dynamo = new DynamoDBClient(client);
  const table = output('ExtractionsTableName');
  shell.wait('reading the batch');
  const ids = await idsWithName(dynamoNameIndex(dynamo, table), { by: 'batch', name: batch });
  const records = await readExtractions(dynamo, table, ids);
  shell.wait(undefined);
  if (records.length === 0)
    throw new CliError(`There is no extraction of the batch ${batch} in ${stackName}.`);
  const waiting = records.filter(({ status }) => status === 'REQUESTED');
  if (waiting.length > 0 && !yes) {
    const question =
      `${count(waiting.length)} of ${count(records.length)} extractions of the batch ${batch} in ${stackName} have not been started ` +
      `(${callersOf(waiting)}). This ends them, and they cannot be started again. Type ${waiting.length} to continue:`;
    if (!(await shell.confirm(question, String(waiting.length))))
      throw new CliError('Nothing was cancelled: type the number at the prompt, or use --yes.');
  }
  const cancelNext = invokerOf(deployment);
  const interrupted = shell.interrupted();
  const show = progressOf(shell, waiting.length, 'cancelled');
  let [cancelled, started] = [0, 0];
  const failed: string[] = [];
  const paced = limitParallelCalls(atOnce);
  const cancelOf = async ({ extractionId }: Extraction): Promise<void> => {
    if (interrupted.aborted) return;
    try {
      const answer = await cancelNext(extractionId);
      if (answer.cancelled) cancelled += 1;
      else started += 1;
    } catch (error) {
      failed.push(`${extractionId}: ${error instanceof Error ? error.message : String(error)}`);
    }
    show(cancelled + started + failed.length);
  };
  await Promise.all(waiting.map((record) => paced(() => cancelOf(record))));
  shell.wait(undefined);
  const others = records.length - waiting.length + started;
  shell.print(
    `${count(cancelled)} cancelled. ${count(others)} of the batch had been started, or had ended, and are left as they are.`,
    { batch, extractions: records.length, cancelled, others, failed: failed.length },
  );
  if (failed.length > 0)
    throw new CliError([...failed.slice(0, 5), `${count(failed.length)} failed. Run this command again.`]);
  if (interrupted.aborted) {
    shell.hint('Run it again: it cancels the rest.');
    return exitCodes.interrupted;
  }
  shell.hint(
    'What is requested later under this batch is started. The last seconds may be missing: then run it again.',
  );
  return exitCodes.done;
};
