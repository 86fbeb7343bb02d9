import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { type Config, reservedConcurrency } from '../../infra/settings/config.ts';

/** Lambda leaves so many to functions without reserved concurrency (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html). */
export const unreservedAtLeast = 100;

/**
 * Why Lambda would refuse the concurrency that a deployment reserves, as a sentence, or undefined. It would be rolled back. Only a certain
 * answer counts.
 */
export const findQuotaProblem = async (client: LambdaClient, config: Config): Promise<string | undefined> => {
  const { AccountLimit } = await client
    .send(new GetAccountSettingsCommand())
    .catch(() => ({ AccountLimit: undefined }));
  const quota = AccountLimit?.ConcurrentExecutions;
  const reserved = reservedConcurrency(config);
  const needed = unreservedAtLeast + reserved;
  if (quota === undefined || quota >= needed) return undefined;
  return `This account may run ${quota} functions at once in this region. The deployment reserves ${reserved}, and Lambda requires that ${unreservedAtLeast} stay unreserved. Nothing was deployed. Have the quota raised to ${needed} at least: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`;
};
