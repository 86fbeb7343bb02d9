import { isLocalStage } from '../lib/aws/stage.ts';
import type { Config } from './settings/config.ts';
import { ConfigError } from './settings/config-error.ts';

/**
 * Refuses to deploy a stage for emulators where nothing names one: the CDK CLI then goes to AWS. Such a stage lacks what the
 * emulator cannot do, such as the conditions of the seal key, and its data is deleted with the stack. The CDK CLI sets CDK_OUTDIR
 * for each app, but CDK_DEFAULT_ACCOUNT only after it has found the account. A test synthesizes without both.
 * @throws {ConfigError}
 */
export const refuseLocalOnAws = (
  config: Config,
  env: {
    readonly CDK_DEFAULT_ACCOUNT?: string;
    readonly CDK_OUTDIR?: string;
    readonly AWS_ENDPOINT_URL?: string;
  },
): void => {
  const isRunByCdk = Boolean(env.CDK_DEFAULT_ACCOUNT || env.CDK_OUTDIR);
  if (!isLocalStage(config.stage) || !isRunByCdk || env.AWS_ENDPOINT_URL) return;
  throw new ConfigError(
    `The stage "${config.stage}" is for an emulator and protects nothing, and AWS_ENDPOINT_URL names no emulator. Set it, or choose another stage for AWS.`,
  );
};

/**
 * Why a deployment with these settings would reach no provider, as a sentence, or undefined: examples of pages have such a host, which
 * exists nowhere (https://www.rfc-editor.org/rfc/rfc2606). A stage for emulators may have any.
 */
export const findExampleProvider = ({
  stage,
  providerBaseUrl,
}: Readonly<Record<string, unknown>>): string | undefined => {
  const isExample = /^https?:\/\/([^/:]+\.)?example(\.com|\.net|\.org)?\.?([/:]|$)/i.test(
    String(providerBaseUrl),
  );
  return isExample && !isLocalStage(String(stage))
    ? `Setting providerBaseUrl is ${providerBaseUrl}, an example that no provider has. Nothing was deployed. Set it to your provider's address.`
    : undefined;
};
