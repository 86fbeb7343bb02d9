import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** A statement that allows exactly these actions on exactly these resources. */
export const allow = (
  actions: readonly string[],
  resources: readonly string[],
  conditions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): PolicyStatement => new PolicyStatement({ actions: [...actions], resources: [...resources], conditions });
