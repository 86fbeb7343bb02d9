import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Deployment } from '../aws/deployment.ts';
import { requireRecord } from '../aws/stores.ts';
import { reconcileNow, sweepNow } from '../operate/invoke-functions.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { UsageError } from '../terminal/errors.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { describeDue, describeProgress } from '../terminal/operator-view.ts';
import type { CommandContext } from './command-context.ts';

export const reconcile = async (
  extractionId: string | undefined,
  { allDue }: { readonly allDue?: true },
  { shell, connect }: CommandContext,
): Promise<number> => {
  if ((extractionId === undefined) !== (allDue === true)) {
    throw new UsageError('Name one extraction, or use --all-due.');
  }
  const deployment = await connect();
  shell.wait('reconciling');
  return extractionId === undefined
    ? reconcileAllDue(deployment, shell)
    : reconcileOne(extractionId, deployment, shell);
};

const reconcileAllDue = async ({ client, output }: Deployment, shell: Shell): Promise<number> => {
  const result = await sweepNow(new LambdaClient(client), output('SweepFunctionName'));
  shell.wait(undefined);
  const { sent, failed, cutShort, oldestOverdueSeconds } = result;
  const oldest = `The oldest was ${formatSeconds(oldestOverdueSeconds)} late.`;
  const rest = cutShort ? ' The sweep ran out of time: run it again.' : '';
  shell.print(`${sent} sent to the reconcile queue, ${failed} failed. ${oldest}${rest}`, result);
  return failed === 0 ? 0 : 1;
};

const reconcileOne = async (extractionId: string, deployment: Deployment, shell: Shell): Promise<number> => {
  const { client, output, sweepEveryMinutes } = deployment;
  const answer = await reconcileNow(new LambdaClient(client), output('ReconcileFunctionName'), {
    trigger: 'operator',
    extractionId,
  });
  shell.wait(undefined);
  const record = await requireRecord(deployment, extractionId);
  const { status, dueShard, dueAt } = record;
  const next =
    dueAt === undefined ? '' : ` Next reconcile: ${describeDue(dueAt, shell.now(), sweepEveryMinutes())}.`;
  shell.print(`${extractionId} is ${describeProgress(record)}.${next}`, {
    ...answer,
    status,
    closed: dueShard === undefined,
    dueAt,
  });
  return 0;
};
