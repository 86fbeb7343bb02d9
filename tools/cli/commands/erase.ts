import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type EraseResult, erase as eraseExtraction } from '../../../lib/extraction/operate/erase.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { s3Of } from '../aws/stores.ts';
import { eraseOnAws, ResultsNotDeleted } from '../operate/erase-on-aws.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { CliError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

export const erase = async (
  extractionId: string,
  { yes }: { readonly yes?: true },
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const { client, output, stackName } = deployment;
  const question = `This erases ${extractionId} and its results from ${stackName} for good. Type its id to continue:`;
  if (yes !== true && !(await shell.confirm(question, extractionId))) {
    throw new CliError('Nothing was erased: type the id at the prompt, or use --yes.');
  }
  const settings = await readReconcileSettings(deployment);
  const resources = { output, dynamo: new DynamoDBClient(client), s3: s3Of(deployment) };
  const removals = eraseOnAws(resources, shell.now);
  shell.wait('erasing');
  const result = await eraseExtraction(extractionId, {
    ...removals,
    reconcileTimeout: settings.timeout,
    recordRetention: settings.timings.recordRetention,
  }).catch((cause: unknown) => {
    if (!(cause instanceof ResultsNotDeleted)) throw cause;
    throw new CliError(
      `${cause.message} The record is still there. Repair the cause, and run this command again.`,
      { cause },
    );
  });
  shell.wait(undefined);
  return report(extractionId, result, shell);
};

/** What the command cannot erase, and how long it stays. */
const remainders = [
  'What stays, and for how long:',
  '- its execution, with its id and the requestId: 90 days after its end (Step Functions);',
  '- the record in the point-in-time backup: 35 days; a restore must omit it (--except);',
  '- the record in the stream: 24 hours, and longer in downstream services; inform them;',
  '- ids, and no data, in the logs: logRetentionDays. A later delivery stores taskId and status for 30 days;',
  '- its idempotency key: for those 90 days a request that repeats it starts nothing and ends NOT_STARTED. Use another.',
];

const report = (extractionId: string, result: EraseResult, shell: Shell): number => {
  switch (result.kind) {
    case 'erased': {
      const task = result.taskId === undefined ? '' : 'its task, the mark of its credentials if it had one, ';
      const line = `Erased: stored results (${result.objects}), ${task}its request, the record. Verified: nothing of it remains.`;
      shell.print([line, ...remainders], { extractionId, ...result });
      return 0;
    }
    case 'no-record': {
      const results =
        result.objects === 0 ? 'and no results' : `and the rest of its results (${result.objects}) is erased`;
      shell.print(`There is no record of ${extractionId}, ${results}.`, { extractionId, ...result });
      return 0;
    }
    case 'open':
      throw new CliError(
        `${extractionId} is still open (${result.record.status}), and its outcome would be lost. Let it close ` +
          '(`watch` it, or `reconcile` it if it is overdue), or have the provider end it. Then erase it.',
      );
    case 'too-fresh':
      throw new CliError(
        `${extractionId} was closed a moment ago, and a function that read it while open may still store results. ` +
          `Nothing was erased. Try again after ${result.until}.`,
      );
    case 'reopened':
      throw new CliError(
        `The provider has just corrected the outcome of ${extractionId}, so it is open again. Its record stays. Erase ` +
          'it once it is closed.',
      );
    case 'remains':
      throw new CliError(`These are still there: ${result.what.join(', ')}. Run this command again.`);
  }
};
