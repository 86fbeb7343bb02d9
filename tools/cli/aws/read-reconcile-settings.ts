import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { parseProviderTimeouts } from '../../../lib/aws/wiring/provider-from-environment.ts';
import { parseTimings } from '../../../lib/extraction/deadlines.ts';
import type { Deployment } from './deployment.ts';

/**
 * The settings that reconcile-extraction was deployed with, as far as operators need them. They are read from the function itself, as a
 * copy could be out of date. Throws the SDK's errors.
 */
export const readReconcileSettings = async ({ client, output }: Deployment) => {
  const command = new GetFunctionConfigurationCommand({ FunctionName: output('ReconcileFunctionName') });
  const { Environment, Role = '', Timeout = 0 } = await new LambdaClient(client).send(command);
  const variables = Environment?.Variables ?? {};
  return {
    roleArn: Role,
    sealKeyArn: variables.SEAL_KEY_ARN ?? '',
    timings: parseTimings(variables.TIMINGS ?? ''),
    /** Timeout of the function, in seconds. */
    timeout: Timeout,
    consentsAreSetUp: variables.PROVIDER_CLIENT_ID !== undefined,
    providerBaseUrl: variables.PROVIDER_BASE_URL ?? '',
    providerTimeouts: parseProviderTimeouts(variables.PROVIDER_TIMEOUTS ?? ''),
  };
};

export type ReconcileSettings = Readonly<Awaited<ReturnType<typeof readReconcileSettings>>>;
