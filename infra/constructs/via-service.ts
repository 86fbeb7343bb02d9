import { Aws } from 'aws-cdk-lib';

/**
 * A condition that lets a key be used only by a service on behalf of the principal.
 * https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
export const viaService = (service: 'dynamodb' | 's3'): Record<string, Record<string, string>> => ({
  StringEquals: { 'kms:ViaService': `${service}.${Aws.REGION}.amazonaws.com` },
});
