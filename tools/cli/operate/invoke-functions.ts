import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { CancelAnswer, CancelEvent } from '../../../lib/extraction/operate/cancel.ts';
import type { ReconcileAnswer, ReconcileEvent } from '../../../lib/extraction/reconcile/reconcile.ts';
import type { SweepResult } from '../../../lib/extraction/sweep.ts';
import { CliError } from '../terminal/errors.ts';

const invoke = async (client: LambdaClient, name: string, event: unknown): Promise<unknown> => {
  const { FunctionError, Payload } = await client.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
  );
  if (FunctionError !== undefined) {
    throw new CliError(`${name} failed (${FunctionError}). Its log has the cause.`);
  }
  return JSON.parse(Buffer.from(Payload ?? []).toString('utf8'));
};

/** Reconciles one extraction now, and waits for the answer. Throws CliError where it failed, and the SDK's errors. */
export const reconcileNow = async (
  client: LambdaClient,
  name: string,
  event: ReconcileEvent,
): Promise<ReconcileAnswer> => (await invoke(client, name, event)) as ReconcileAnswer;

/** Cancels one extraction, if its start was not claimed. Throws as `reconcileNow`. */
export const cancelNow = async (
  client: LambdaClient,
  name: string,
  event: CancelEvent,
): Promise<CancelAnswer> => (await invoke(client, name, event)) as CancelAnswer;

export const sweepNow = async (client: LambdaClient, name: string): Promise<SweepResult> =>
  (await invoke(client, name, { trigger: 'sweep' })) as SweepResult;
