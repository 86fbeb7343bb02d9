import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import { reconcileNow, sweepNow } from '../aws/reconcile-function.ts';
import type { Context } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { describeDue, describeProgress } from '../describe-record.ts';
import { CliError, UsageError } from '../errors.ts';
import { formatSeconds } from '../format-seconds.ts';
import { withReconcileErrors } from '../with-reconcile-errors.ts';

export type ReconcileOptions = { readonly allDue?: true };

/** Has one extraction, or everything that is due, looked at now. */
export const reconcile = async (
  extractionId: string | undefined,
  { allDue }: ReconcileOptions,
  { shell, connect }: Context,
): Promise<number> => {
  if ((extractionId === undefined) !== (allDue === true)) {
    throw new UsageError('Reconcile what? Name one extraction, or say --all-due.');
  }
  const system = await connect();
  const lambda = new LambdaClient(system.client);
  shell.wait('looking');
  return extractionId === undefined ? sweep(lambda, system, shell) : one(extractionId, lambda, system, shell);
};

const sweep = async (lambda: LambdaClient, system: Deployment, shell: Context['shell']): Promise<number> => {
  const swept = await withReconcileErrors(() => sweepNow(lambda, system.output('SweepFunctionName')));
  shell.wait(undefined);
  const { claimed, closed, failed, cutShort, oldestOverdueSeconds } = swept;
  const left = cutShort ? ' Its time was up before the end: run it again.' : '';
  shell.print(
    `${claimed} looked at, ${closed} of them closed, ${failed} failed. The oldest was ${formatSeconds(oldestOverdueSeconds)} late.${left}`,
    { ...swept },
  );
  return failed === 0 ? 0 : 1;
};

const one = async (
  extractionId: string,
  lambda: LambdaClient,
  system: Deployment,
  shell: Context['shell'],
): Promise<number> => {
  const name = system.output('ReconcileFunctionName');
  const answer = await withReconcileErrors(() =>
    reconcileNow(lambda, name, { trigger: 'operator', extractionId }),
  );
  shell.wait(undefined);
  const extractions = dynamoExtractionStore(
    new DynamoDBClient(system.client),
    system.output('ExtractionsTableName'),
  );
  const record = await extractions.get(extractionId);
  if (record === undefined)
    throw new CliError(`There is no extraction ${extractionId} in ${system.stackName}.`);
  const next = record.dueAt === undefined ? '' : ` Next look: ${describeDue(record.dueAt, shell.now())}.`;
  shell.print(`${extractionId} is ${describeProgress(record)}.${next}`, {
    ...answer,
    status: record.status,
    closed: record.dueShard === undefined,
    dueAt: record.dueAt,
  });
  return 0;
};
