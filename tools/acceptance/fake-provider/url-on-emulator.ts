import { ConfigError } from '../../../infra/config-error.ts';
import { emulatorApiUrl } from '../../cli/aws/local-deployment.ts';

/**
 * Where an emulator serves the API of the fake provider. The functions reach the emulator at the same address as the CDK CLI.
 * @throws {ConfigError} if `env` names no emulator
 */
export const urlOnEmulator = (
  apiId: string,
  { AWS_ENDPOINT_URL }: { readonly AWS_ENDPOINT_URL?: string },
): string => {
  if (AWS_ENDPOINT_URL) return emulatorApiUrl(AWS_ENDPOINT_URL, apiId);
  throw new ConfigError(
    'The stage "local" needs AWS_ENDPOINT_URL: the address of the fake provider contains that of the emulator.',
  );
};
