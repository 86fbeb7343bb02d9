import { isLocalStage } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
import { ConfigError } from '../settings/config-error.ts';

/**
 * Refuses to deploy a stage for emulators to AWS. Such a stage lacks what the emulator cannot do, such as the conditions
 * of the seal key, and its data is deleted with the stack. The CDK CLI sets CDK_DEFAULT_ACCOUNT to the account of the
 * credentials (https://docs.aws.amazon.com/cdk/v2/guide/environments.html). Without AWS_ENDPOINT_URL, that is AWS.
 * @throws {ConfigError}
 */
export const refuseLocalOnAws = (
  config: Config,
  env: { readonly CDK_DEFAULT_ACCOUNT?: string; readonly AWS_ENDPOINT_URL?: string },
): void => {
  if (!isLocalStage(config.stage) || !env.CDK_DEFAULT_ACCOUNT || env.AWS_ENDPOINT_URL) return;
  throw new ConfigError(
    `The stage "${config.stage}" is for an emulator and protects nothing. Choose another stage for AWS, or run npm start.`,
  );
};
