import { Aws } from 'aws-cdk-lib';

/**
 * Lets a key be used only as a service asks for it, on behalf of whoever holds the right.
 * https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
export const viaService = (service: 'dynamodb' | 's3'): Record<string, Record<string, string>> => ({
  StringEquals: { 'kms:ViaService': `${service}.${Aws.REGION}.amazonaws.com` },
});
