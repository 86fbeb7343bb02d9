import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { type EraseResult, erase as eraseExtraction } from '../../extraction/operate/erase.ts';
import { eraseOnAws, ResultsNotDeleted } from '../aws/erase-on-aws.ts';
import { readReconcileSettings } from '../aws/reconcile-function.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Shell } from '../shell.ts';

export type EraseOptions = { readonly yes?: true };

/** Erases one closed extraction for good. */
export const erase = async (
  extractionId: string,
  { yes }: EraseOptions,
  { shell, connect }: Context,
): Promise<number> => {
  const system = await connect();
  const question = `This erases ${extractionId} and its results from ${system.stackName} for good. Type its id to go on:`;
  if (yes !== true && !(await shell.confirm(question, extractionId))) {
    throw new CliError('Nothing was erased: type the id when asked, or say --yes.');
  }
  const lambda = new LambdaClient(system.client);
  const settings = await readReconcileSettings(lambda, system.output('ReconcileFunctionName'));
  const removals = eraseOnAws(
    {
      dynamo: new DynamoDBClient(system.client),
      s3: new S3Client({ ...system.client, forcePathStyle: system.isEmulated }),
      extractionsTable: system.output('ExtractionsTableName'),
      tasksTable: system.output('TasksTableName'),
      resultsBucket: system.output('ResultsBucketName'),
    },
    shell.now,
  );
  shell.wait('erasing');
  const erased = await eraseExtraction(extractionId, {
    ...removals,
    reconcileTimeout: settings.timeout,
    recordRetention: settings.timings.recordRetention,
  }).catch((cause: unknown) => {
    if (!(cause instanceof ResultsNotDeleted)) throw cause;
    throw new CliError(`${cause.message} The record is still there: put that right, and run this again.`, {
      cause,
    });
  });
  shell.wait(undefined);
  return report(extractionId, erased, shell);
};

/** What no command can take back, and when it goes by itself. */
const remainders = [
  'What stays, and for how long:',
  '- its execution: the request, and the credentials or the target sealed, 90 days after its end (Step Functions);',
  '- the record in the backup by point-in-time recovery, 35 days: a restore must leave it out (--except);',
  '- the record in the stream, 24 hours, and whatever downstream services made of it: tell them;',
  '- ids, and no data, in logs for logRetentionDays. A delivery still to come leaves taskId and status for 30 days;',
  '- its idempotency key: for those 90 days a request that repeats it starts nothing and ends NOT_STARTED. Use another.',
];

const report = (extractionId: string, erased: EraseResult, shell: Shell): number => {
  switch (erased.kind) {
    case 'erased': {
      const task = erased.taskId === undefined ? '' : 'its task, ';
      const lines = [
        `Erased: stored results (${erased.objects}), ${task}the record. Read again: nothing is left of it.`,
      ];
      shell.print([...lines, ...remainders], { extractionId, ...erased });
      return 0;
    }
    case 'no-record': {
      const left =
        erased.objects === 0
          ? 'and no results'
          : `and what was left of its results (${erased.objects}) is erased`;
      shell.print(`There is no record of ${extractionId}, ${left}.`, { extractionId, ...erased });
      return 0;
    }
    case 'open':
      throw new CliError(
        `${extractionId} is still open (${erased.record.status}): erasing it now would lose its end. Let it close ` +
          '(`watch` it, or `reconcile` it if it is overdue), or have the provider end it, then erase it.',
      );
    case 'too-fresh':
      throw new CliError(
        `${extractionId} was closed a moment ago, and a function that saw it open may still store results. ` +
          `Nothing was erased: try again after ${erased.until}.`,
      );
    case 'reopened':
      throw new CliError(
        `The provider has just told how ${extractionId} ended, which opened it again. The record stays: erase it once ` +
          'it is closed.',
      );
    case 'remains':
      throw new CliError(`Read again, something is there: ${erased.what.join(', ')}. Run this again.`);
  }
};
