import { Stack } from 'aws-cdk-lib';
import {
  AccountRootPrincipal,
  Effect,
  type IRole,
  Policy,
  PolicyDocument,
  PolicyStatement,
} from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import { isLocal, removalPolicy } from './removal.ts';

/** Administration without use: no Encrypt, no Decrypt, and no CreateGrant, which would lend either. */
const ADMINISTRATION = [
  'kms:CancelKeyDeletion',
  'kms:CreateAlias',
  'kms:DeleteAlias',
  'kms:DescribeKey',
  'kms:DisableKey',
  'kms:DisableKeyRotation',
  'kms:EnableKey',
  'kms:EnableKeyRotation',
  'kms:GetKeyPolicy',
  'kms:GetKeyRotationStatus',
  'kms:ListGrants',
  'kms:ListKeyPolicies',
  'kms:ListKeyRotations',
  'kms:ListResourceTags',
  'kms:PutKeyPolicy',
  'kms:RevokeGrant',
  'kms:RotateKeyOnDemand',
  'kms:ScheduleKeyDeletion',
  'kms:TagResource',
  'kms:UntagResource',
  'kms:UpdateAlias',
  'kms:UpdateKeyDescription',
];

/** Every use must name, in the encryption context, the extraction that it is for, at most its method, and no more. */
const FOR_ONE_EXTRACTION = {
  Null: { 'kms:EncryptionContext:extractionId': 'false' },
  'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['extractionId', 'method'] },
};

/**
 * KMS opens a ciphertext only with the very context that it was sealed with, and credentials are sealed without a
 * method: so this opens targets and nothing else (docs/decisions/0007-the-sealed-target-stays-in-the-executions-input.md).
 */
const FOR_ONE_TARGET = {
  ...FOR_ONE_EXTRACTION,
  StringEquals: { 'kms:EncryptionContext:method': 'consent' },
};

/**
 * The key that seals the users' credentials, and the national ids of consents' users, and nothing else. Its policy
 * alone says who may use it: as it delegates no use to IAM, no policy elsewhere in the account, not even an
 * administrator's, can grant the use of it. Whoever may change the functions or their roles can still use theirs:
 * SECURITY.md names these paths, and a policy that closes them.
 */
export class SealKey extends Construct {
  readonly key: Key;
  private readonly config: Config;

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.config = config;
    this.key = new Key(this, 'Key', {
      description: `${Stack.of(this).stackName}: users' credentials and national ids on their way to the provider`,
      enableKeyRotation: true,
      removalPolicy: removalPolicy(config),
      policy: new PolicyDocument({
        statements: [
          new PolicyStatement({
            sid: 'Administer',
            principals: [new AccountRootPrincipal()],
            actions: ADMINISTRATION,
            resources: ['*'],
          }),
        ],
      }),
    });
  }

  /** Lets this role seal, and not unseal. */
  allowSealing(role: IRole): void {
    this.allowUse('Seal', [role], 'kms:Encrypt', FOR_ONE_EXTRACTION);
  }

  /** Lets this function unseal, and not seal. */
  allowUnsealing(its: CosechaFunction): void {
    this.allowUse('Unseal', [its.role], 'kms:Decrypt', FOR_ONE_EXTRACTION);
    this.denyElsewhere(its);
  }

  /** Lets these functions unseal targets, and no credentials. */
  allowUnsealingTargets(functions: readonly CosechaFunction[]): void {
    const roles = functions.map(({ role }) => role);
    this.allowUse('UnsealTargets', roles, 'kms:Decrypt', FOR_ONE_TARGET);
    for (const its of functions) this.denyElsewhere(its);
  }

  /**
   * Denies the function's role to unseal outside of this very function: neither another function that was given the
   * role, nor a person who assumes it, may. In the role's own policy, as a key policy does not know this condition key
   * (https://docs.aws.amazon.com/lambda/latest/dg/permissions-source-function-arn.html). The operator also matches a
   * request without the key
   * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html). It is a
   * policy apart from the role's other one, which is made before the function is.
   */
  private denyElsewhere({ node, role, function: its }: CosechaFunction): void {
    // The emulator does not know the condition key, so that the function itself would be denied.
    if (isLocal(this.config)) return;
    new Policy(node.scope ?? this, `${node.id}UnsealsOnlyThere`, {
      roles: [role],
      statements: [
        new PolicyStatement({
          sid: 'UnsealOnlyInTheFunction',
          effect: Effect.DENY,
          actions: ['kms:Decrypt'],
          resources: [this.key.keyArn],
          conditions: { ArnNotEquals: { 'lambda:SourceFunctionArn': its.functionArn } },
        }),
      ],
    });
  }

  private allowUse(
    sid: string,
    roles: readonly IRole[],
    action: string,
    conditions: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): void {
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: roles.map((role) => role.grantPrincipal),
        actions: [action],
        resources: ['*'],
        conditions,
      }),
    );
  }
}
