import { LOCAL_STAGE } from '../lib/aws/stage.ts';
import { type Config, ConfigError } from './config.ts';

/**
 * The stage for emulators gives up what the emulator cannot do, conditions of the seal key among it, and keeps
 * nothing. The CDK CLI names the account of the credentials at hand
 * (https://docs.aws.amazon.com/cdk/v2/guide/environments.html); where one is named and no emulator is, it is AWS.
 * @throws {ConfigError}
 */
export const refuseLocalOnAws = (
  config: Config,
  env: { readonly CDK_DEFAULT_ACCOUNT?: string; readonly AWS_ENDPOINT_URL?: string },
): void => {
  if (config.stage !== LOCAL_STAGE || !env.CDK_DEFAULT_ACCOUNT || env.AWS_ENDPOINT_URL) return;
  throw new ConfigError(
    `The stage "${LOCAL_STAGE}" is for an emulator and protects nothing: choose another for AWS, or run npm start.`,
  );
};
