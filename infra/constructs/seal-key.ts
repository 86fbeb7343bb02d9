import { Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, type IRole, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { removalPolicy } from './removal.ts';

/** Administration without use: no Encrypt, no Decrypt, and no CreateGrant, which could grant either. */
const administrationActions = [
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

/** The encryption context of every use has to name the extraction. It may name the method, and nothing else. */
const forOneExtraction = {
  Null: { 'kms:EncryptionContext:extractionId': 'false' },
  'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['extractionId', 'method'] },
};

/**
 * KMS decrypts a ciphertext only with the context that it was encrypted with, and credentials are sealed without a
 * method. So this condition allows targets only (docs/decisions/0007-the-sealed-target-stays-in-the-executions-input.md).
 */
const forOneTarget = {
  ...forOneExtraction,
  StringEquals: { 'kms:EncryptionContext:method': 'consent' },
};

/**
 * The key that seals users' credentials and targets, and nothing else. Only its own policy decides who may use it. It
 * delegates no use to IAM, so no other policy of the account, not even an administrator's, can decrypt them.
 */
export class SealKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `${Stack.of(this).stackName}: seals users' credentials and national ids until the provider has them`,
      enableKeyRotation: true,
      removalPolicy: removalPolicy(config),
      policy: new PolicyDocument({
        statements: [
          new PolicyStatement({
            sid: 'Administer',
            principals: [new AccountRootPrincipal()],
            actions: administrationActions,
            resources: ['*'],
          }),
        ],
      }),
    });
  }

  /** Lets this role seal, but not unseal. */
  allowSealing(role: IRole): void {
    this.allowUse('Seal', [role], 'kms:Encrypt', forOneExtraction);
  }

  /** Lets this role unseal, but not seal. */
  allowUnsealing(role: IRole): void {
    this.allowUse('Unseal', [role], 'kms:Decrypt', forOneExtraction);
  }

  /** Lets these roles unseal targets, but not credentials. */
  allowUnsealingTargets(roles: readonly IRole[]): void {
    this.allowUse('UnsealTargets', roles, 'kms:Decrypt', forOneTarget);
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
