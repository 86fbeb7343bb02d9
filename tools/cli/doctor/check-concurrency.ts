import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { type Finding, failed, passed } from './finding.ts';

/**
 * Left for the functions that do not read the reconcile queue. Lambda itself leaves 100 to functions without reserved
 * concurrency, 50 and the default of 50 for the queue
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html).
 */
const headroom = 50;

/**
 * Fails where the account's quota cannot bear a full reconcile queue. "New AWS accounts have reduced concurrency", such as 10
 * (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html), and each throttle of a message counts as a
 * receive. So messages without any fault become dead letters.
 */
export const checkConcurrency = async (
  client: LambdaClient,
  reconcileConcurrency: number,
): Promise<Finding> => {
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand());
  const quota = AccountLimit?.ConcurrentExecutions ?? 0;
  const needed = reconcileConcurrency + headroom;
  if (quota >= needed) return passed(`account may run ${quota} functions at once`);
  return failed(
    `account may run ${quota} functions at once, where ${needed} are needed: reconcileConcurrency is ${reconcileConcurrency}, and ${headroom} for the rest`,
    `Lambda would throttle webhooks and starts, and throttled messages become dead letters. Have AWS raise the quota, per region: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`,
  );
};
