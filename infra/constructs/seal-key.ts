import { Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, type IRole, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { removalPolicy } from './removal.ts';

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

/** Every use must name the extraction that it is for, and nothing else, in the encryption context. */
const FOR_ONE_EXTRACTION = {
  Null: { 'kms:EncryptionContext:extractionId': 'false' },
  'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['extractionId'] },
};

/**
 * The key that seals the users' credentials and nothing else. Its policy alone says who may use it: as it
 * delegates no use to IAM, no policy elsewhere in the account, not even an administrator's, can open them.
 */
export class SealKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `${Stack.of(this).stackName}: users' credentials on their way from the request to the start`,
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
    this.allowUse('Seal', role, 'kms:Encrypt');
  }

  /** Lets this role unseal, and not seal. */
  allowUnsealing(role: IRole): void {
    this.allowUse('Unseal', role, 'kms:Decrypt');
  }

  private allowUse(sid: string, role: IRole, action: string): void {
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: [role.grantPrincipal],
        actions: [action],
        resources: ['*'],
        conditions: FOR_ONE_EXTRACTION,
      }),
    );
  }
}
