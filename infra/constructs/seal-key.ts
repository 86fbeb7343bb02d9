import { AccountRootPrincipal, Effect, Policy, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import { isLocal, removalPolicy } from './removal-policy.ts';

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

/** The encryption context of every use has to name extraction, request and purpose. It may name the method, and nothing else. */
const forOneExtraction = {
  Null: {
    'kms:EncryptionContext:extractionId': 'false',
    'kms:EncryptionContext:purpose': 'false',
    'kms:EncryptionContext:requestId': 'false',
  },
  'ForAllValues:StringEquals': {
    'kms:EncryptionContextKeys': ['extractionId', 'method', 'purpose', 'requestId'],
  },
};

/**
 * KMS decrypts a ciphertext only with the context that it was encrypted with, and credentials are sealed without a
 * method. So this condition allows targets only (docs/decisions/0017-sealed-data-in-a-table-of-their-own.md).
 */
const forOneTarget = {
  ...forOneExtraction,
  StringEquals: { 'kms:EncryptionContext:method': 'consent' },
};

/** `Decrypt targets` decrypts targets, and no credentials. */
const uses = {
  Encrypt: { sid: 'Seal', action: 'kms:Encrypt', conditions: forOneExtraction },
  Decrypt: { sid: 'Unseal', action: 'kms:Decrypt', conditions: forOneExtraction },
  'Decrypt targets': { sid: 'UnsealTargets', action: 'kms:Decrypt', conditions: forOneTarget },
} as const;

/**
 * The key that seals users' credentials and targets, and nothing else. Only its own policy decides who may use it. It
 * delegates no use to IAM, so no other policy of the account, not even an administrator's, can grant the use of it. An
 * administrator can still change the functions that use it, or their roles: SECURITY.md lists these ways, and a policy
 * that closes them.
 */
export class SealKey extends Construct {
  readonly key: Key;
  private readonly config: Config;

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.config = config;
    this.key = new Key(this, 'Key', {
      alias: `${stackNameOf(config.stage)}/seal`,
      description: `${stackNameOf(config.stage)}: seals users' credentials and national ids until the provider has them`,
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

  /**
   * Lets this function seal, or unseal, and nothing else. KMS refuses a key policy with a role that it does not know yet, as one that is
   * seconds old, and nobody repeats that (https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateKey.html). So the key is created
   * after the policies of its roles. Each of them waits for its role and for the tables, with their indexes some 45 s, and then takes some
   * 15 s itself.
   */
  allow(use: keyof typeof uses, its: CosechaFunction): void {
    const { sid, action, conditions } = uses[use];
    this.key.node.addDependency(its.role);
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: [its.role],
        actions: [action],
        resources: ['*'],
        // The emulator checks the encryption context when it decrypts, but its policies do not know the condition keys: a
        // statement that requires one would never apply.
        conditions: isLocal(this.config) ? {} : conditions,
      }),
    );
    if (use !== 'Encrypt') this.denyElsewhere(its);
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
}
