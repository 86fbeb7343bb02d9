import { Token } from 'aws-cdk-lib';
import { type Config, regionalArns } from './settings/config.ts';
import { ConfigError } from './settings/config-error.ts';

/** Regions outside of the partition `aws`: cn-north-1, us-gov-west-1, us-iso-east-1, us-isob-east-1, eu-isoe-west-1, eusc-de-east-1. */
export const otherPartition = /^(cn-|us-gov-|[a-z]{2}-iso|eusc-)/;

/**
 * Refuses an account or a region in which the deployment would fail half-way or the stack would not work:
 * - An alarm takes a topic, and a regional domain a certificate, of its own region only
 *   (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-regional-api-custom-domain-create.html).
 * - An HTTP API lets in no principal of another account
 *   (https://repost.aws/knowledge-center/api-gateway-iam-cross-account), so such a reader would read nothing.
 * - Outside of the partition `aws`, as in China, GovCloud, isolated regions and the European Sovereign Cloud, ARNs start
 *   otherwise than in the state machine's tasks, and in China services have other names in key policies
 *   (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html).
 *
 * A stack may name where it goes. Otherwise the CDK CLI does, but without an account it deploys nothing, and its region may be a
 * default.
 * @throws {ConfigError} with a sentence for each setting that does not fit
 */
export const refuseWrongEnvironment = (
  config: Config,
  env: {
    readonly CDK_DEFAULT_ACCOUNT?: string;
    readonly CDK_DEFAULT_REGION?: string;
    readonly AWS_ENDPOINT_URL?: string;
  },
  stack: { readonly account?: string | undefined; readonly region?: string | undefined } = {},
): void => {
  if (env.AWS_ENDPOINT_URL) return;
  const account = stack.account ?? (env.CDK_DEFAULT_ACCOUNT || undefined);
  const region = stack.region ?? (env.CDK_DEFAULT_ACCOUNT ? env.CDK_DEFAULT_REGION || undefined : undefined);
  if (region !== undefined && otherPartition.test(region)) {
    throw new ConfigError(
      `The region ${region} is not supported: choose one of the partition aws, which China, GovCloud, isolated regions and the European Sovereign Cloud are not in.`,
    );
  }
  const wrongRegion = regionalArns(config).flatMap(([setting, its]) =>
    region === undefined || its === region
      ? []
      : [`Setting ${setting} is in ${its}, but the stack goes to ${region}: it must be in the same region.`],
  );
  const wrongAccount = config.readers
    .filter((arn) => account !== undefined && !Token.isUnresolved(arn) && arn.split(':')[4] !== account)
    .map(
      (arn) =>
        `Setting readers names ${arn}, but the stack goes to account ${account}: name the role that this reader assumes there.`,
    );
  const wrong = [...wrongRegion, ...wrongAccount];
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'));
};
