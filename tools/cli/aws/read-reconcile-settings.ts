import { GetFunctionConfigurationCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import {
  type ProviderTimeouts,
  parseProviderTimeouts,
} from '../../../lib/aws/wiring/provider-from-environment.ts';
import { parseTimings, type Timings } from '../../../lib/extraction/deadlines.ts';

/** The settings that reconcile-extraction was deployed with, as far as operators need them. */
export type ReconcileSettings = {
  readonly timings: Timings;
  readonly roleArn: string;
  readonly sealKeyArn: string;
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
  const {
    Environment,
    Role = '',
    Timeout = 0,
  } = await client.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
  const variables = Environment?.Variables ?? {};
  return {
    roleArn: Role,
    sealKeyArn: variables.SEAL_KEY_ARN ?? '',
    timings: parseTimings(variables.TIMINGS ?? ''),
    timeout: Timeout,
    providerBaseUrl: variables.PROVIDER_BASE_URL ?? '',
    providerTimeouts: parseProviderTimeouts(variables.PROVIDER_TIMEOUTS ?? ''),
  };
};
