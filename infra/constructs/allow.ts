import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** A statement that allows exactly these actions on exactly these resources. */
export const allow = (
  actions: readonly string[],
  resources: readonly string[],
  conditions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): PolicyStatement => new PolicyStatement({ actions: [...actions], resources: [...resources], conditions });

/**
 * A condition that lets a key be used only by a service on behalf of the principal.
 * https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
export const viaService = (
  service: 'dynamodb' | 's3' | 'secretsmanager',
): Record<string, Record<string, string>> => ({
  StringEquals: { 'kms:ViaService': `${service}.${Aws.REGION}.amazonaws.com` },
});
