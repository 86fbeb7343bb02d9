import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { promptClient } from '../../../lib/aws/wiring/aws-client-timeouts.ts';
import type { Deployment } from './deployment.ts';

/**
 * The ARN of who runs this. STS needs no permission for this call
 * (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html). Undefined if STS does not answer within
 * seconds: a pause is for emergencies, and must not wait for STS.
 */
export const identityOf = async ({ client }: Deployment): Promise<string | undefined> => {
  try {
    const requestHandler = { ...promptClient.requestHandler, ...client.requestHandler };
    const sts = new STSClient({ ...promptClient, ...client, requestHandler });
    return (await sts.send(new GetCallerIdentityCommand())).Arn;
  } catch {
    return undefined;
  }
};
