import { ArnFormat, Fn, Stack, Validations } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, type IRole, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnResourcePolicy, CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
import { allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { isLocal, removalPolicy } from './removal-policy.ts';

/** The ARNs of the secret of this name. Each ends in six random characters. */
export const secretArn = (stack: Stack, secretName: string): string =>
  stack.formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${secretName}-??????`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** Permission to read the secret of this name. */
export const readingSecret = (stack: Stack, secretName: string): PolicyStatement =>
  allow(['secretsmanager:GetSecretValue'], [secretArn(stack, secretName)]);

/** The role with which CloudFormation changes the stack. It has none where it uses the credentials of the person who deploys. */
const deploymentRoleOf = (stack: Stack): string | undefined => {
  if (stack.nestedStackParent !== undefined) return deploymentRoleOf(stack.nestedStackParent);
  const { cloudFormationExecutionRole: arn } = stack.synthesizer;
  return arn === undefined ? undefined : Fn.sub(arn);
};

/**
 * The three secrets, with fixed names. Functions, permissions and the commands that fill them use the name, as a `Ref` is
 * the ARN on AWS and the name on the emulator. They are `CfnSecret`s, as `Secret` would generate a value for the two that
 * only the provider knows. Until those are filled, the functions report that they have no value.
 */
export class Secrets extends Construct {
  readonly providerApiKey: string;
  readonly webhookSigningKey: string;
  readonly fingerprintKey: string;
  private readonly config: Config;
  private readonly dataKey: DataKey;

  constructor(
    scope: Construct,
    id: string,
    { config, dataKey }: { readonly config: Config; readonly dataKey: DataKey },
  ) {
    super(scope, id);
    this.config = config;
    this.dataKey = dataKey;
    this.providerApiKey = this.secret('ProviderApiKey', 'provider-api-key', {
      description: 'The API key of this stack at the provider',
      notRotated: 'The provider issues it. `cosecha fill api-key` replaces it.',
    });
    this.webhookSigningKey = this.secret('WebhookSigningKey', 'webhook-signing-key', {
      description: 'The key, shared with the provider, that signs and encrypts webhooks',
      notRotated:
        'The provider issues it. AWSCURRENT and AWSPREVIOUS are both accepted while it is replaced.',
    });
    this.fingerprintKey = this.secret('FingerprintKey', 'fingerprint-key', {
      description:
        'The key of MACs that recognize a repeated request and refused credentials. Never rotate it',
      notRotated: 'Rotation would make every repeated request look like a different one.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
  }

  /**
   * Denies the fingerprint key to everybody but these roles, whatever the identity policies of the account allow. Who has the key,
   * or puts one in its place, can guess what its MACs are of. The key of the condition is the ARN of the role, not of its session
   * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-principalarn).
   *
   * CloudFormation reads, updates and deletes the secret, also when only a tag changes. Its handlers need GetSecretValue,
   * UpdateSecret and DeleteSecret (https://schema.cloudformation.us-east-1.amazonaws.com/aws-secretsmanager-secret.json).
   */
  reserveFingerprintKey(...roles: readonly IRole[]): void {
    // The emulator's CloudFormation does not know this type.
    if (isLocal(this.config)) return;
    const secret = this.node.findChild('FingerprintKey') as CfnSecret;
    const deploymentRole = deploymentRoleOf(Stack.of(this));
    const exceptDeploymentsAnd = (others: readonly string[]) => {
      const arns = deploymentRole === undefined ? others : [...others, deploymentRole];
      return {
        ...(arns.length > 0 && { ArnNotEquals: { 'aws:PrincipalArn': arns } }),
        // Without a role of its own, CloudFormation calls in the name of the person who deploys.
        ...(deploymentRole === undefined && {
          'ForAllValues:StringNotEquals': { 'aws:CalledVia': ['cloudformation.amazonaws.com'] },
        }),
      };
    };
    const deny = (sid: string, actions: readonly string[], conditions = {}): PolicyStatement =>
      new PolicyStatement({
        sid,
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: actions.map((action) => `secretsmanager:${action}`),
        resources: ['*'],
        conditions,
      });
    new CfnResourcePolicy(this, 'FingerprintKeyPolicy', {
      secretId: secret.ref,
      resourcePolicy: new PolicyDocument({
        statements: [
          deny(
            'OnlyFunctionsRead',
            ['GetSecretValue'],
            exceptDeploymentsAnd(roles.map(({ roleArn }) => roleArn)),
          ),
          deny('OnlyDeploymentsChange', ['UpdateSecret', 'DeleteSecret'], exceptDeploymentsAnd([])),
          deny('NobodyReplaces', ['PutSecretValue', 'UpdateSecretVersionStage']),
        ],
      }),
    }).applyRemovalPolicy(removalPolicy(this.config));
  }

  private secret(
    id: string,
    name: string,
    {
      description,
      notRotated,
      generateSecretString,
    }: {
      readonly description: string;
      readonly notRotated: string;
      readonly generateSecretString?: CfnSecret.GenerateSecretStringProperty;
    },
  ): string {
    const fullName = `${stackNameOf(this.config.stage)}/${name}`;
    const secret = new CfnSecret(this, id, {
      name: fullName,
      description,
      kmsKeyId: this.dataKey.key.keyArn,
      ...(generateSecretString === undefined ? {} : { generateSecretString }),
    });
    secret.applyRemovalPolicy(removalPolicy(this.config));
    Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason: notRotated });
    return fullName;
  }
}
