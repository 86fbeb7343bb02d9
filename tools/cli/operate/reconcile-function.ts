import { GetFunctionConfigurationCommand, InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import {
  type ProviderTimeouts,
  parseProviderTimeouts,
} from '../../../lib/aws/wiring/provider-from-environment.ts';
import { parseTimings, type Timings } from '../../../lib/extraction/parse-timings.ts';
import type { ReconcileAnswer, ReconcileEvent } from '../../../lib/extraction/reconcile-event.ts';
import type { SweepResult } from '../../../lib/extraction/sweep.ts';
import { CliError } from '../terminal/errors.ts';

/** reconcile-extraction or sweep-extractions ran and threw. Its log has the cause. */
export class ReconcileFailed extends CliError {
  override readonly name = 'ReconcileFailed';
}

const invoke = async (client: LambdaClient, name: string, event: unknown): Promise<unknown> => {
  const { FunctionError, Payload } = await client.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
  );
  if (FunctionError !== undefined) {
    throw new ReconcileFailed(`${name} failed (${FunctionError}). Its log has the cause.`);
  }
  return JSON.parse(Buffer.from(Payload ?? []).toString('utf8'));
};

/** Reconciles one extraction now, and waits for it. Throws ReconcileFailed and the SDK's errors. */
export const reconcileNow = async (
  client: LambdaClient,
  name: string,
  event: ReconcileEvent,
): Promise<ReconcileAnswer> => (await invoke(client, name, event)) as ReconcileAnswer;

/** Runs a sweep now, and waits for it. Throws as `reconcileNow`. */
export const sweepNow = async (client: LambdaClient, name: string): Promise<SweepResult> =>
  (await invoke(client, name, { trigger: 'sweep' })) as SweepResult;

/** The settings that reconcile-extraction was deployed with, as far as operators need them. */
export type ReconcileSettings = {
  readonly timings: Timings;
  /** Timeout of the function, in seconds. */
  readonly timeout: number;
  readonly providerBaseUrl: string;
  readonly providerTimeouts: ProviderTimeouts;
};

/** Reads them from the function itself, as a copy could be out of date. Throws the SDK's errors. */
export const readReconcileSettings = async (
  client: LambdaClient,
  name: string,
): Promise<ReconcileSettings> => {
  const { Environment, Timeout = 0 } = await client.send(
    new GetFunctionConfigurationCommand({ FunctionName: name }),
  );
  const variables = Environment?.Variables ?? {};
  return {
    timings: parseTimings(variables.TIMINGS ?? ''),
    timeout: Timeout,
    providerBaseUrl: variables.PROVIDER_BASE_URL ?? '',
    providerTimeouts: parseProviderTimeouts(variables.PROVIDER_TIMEOUTS ?? ''),
  };
};
