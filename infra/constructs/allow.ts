import { Aws, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

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

/** Gives the rules of AWS Solutions the reason why a resource in the policies of this role, or in this policy, has a wildcard. */
export const acknowledgeWildcard = (holder: IConstruct, resource: string, reason: string): void => {
  const found = asInFinding(Stack.of(holder).resolve(resource));
  Validations.of(holder).acknowledge({ id: `AwsSolutions-IAM5[Resource::${found}]`, reason });
};

/** As cdk-nag writes a resource: references are `<LogicalId>` and `<LogicalId.Attribute>`. */
const asInFinding = (resolved: unknown): string => {
  if (typeof resolved === 'string') return resolved;
  const [[intrinsic, argument] = []] = Object.entries(resolved as Readonly<Record<string, unknown>>);
  if (intrinsic === 'Fn::Join') return (argument as [string, unknown[]])[1].map(asInFinding).join('');
  return `<${[argument].flat().join('.')}>`;
};
