import { ArnFormat, Fn, Stack, Validations } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, type IRole, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnResourcePolicy, CfnSecret, type CfnSecretProps } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
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

  constructor(
    scope: Construct,
    id: string,
    { config, dataKey }: { readonly config: Config; readonly dataKey: DataKey },
  ) {
    super(scope, id);
    this.config = config;
    /** Returns the name of the secret. */
    const secret = (secretId: string, name: string, notRotated: string, props: CfnSecretProps): string => {
      const fullName = `${stackNameOf(config.stage)}/${name}`;
      const made = new CfnSecret(this, secretId, { name: fullName, kmsKeyId: dataKey.key.keyArn, ...props });
      made.applyRemovalPolicy(removalPolicy(config));
      Validations.of(made).acknowledge({ id: 'AwsSolutions-SMG4', reason: notRotated });
      return fullName;
    };
    this.providerApiKey = secret(
      'ProviderApiKey',
      'provider-api-key',
      'The provider issues it. `cosecha fill api-key` replaces it.',
      { description: 'The API key of this stack at the provider' },
    );
    this.webhookSigningKey = secret(
      'WebhookSigningKey',
      'webhook-signing-key',
      'The provider issues it. AWSCURRENT and AWSPREVIOUS are both accepted while it is replaced.',
      { description: 'The key, shared with the provider, that signs and encrypts webhooks' },
    );
    this.fingerprintKey = secret(
      'FingerprintKey',
      'fingerprint-key',
      'Rotation would make every repeated request look like a different one.',
      {
        description:
          'The key of MACs that recognize a repeated request and refused credentials. Never rotate it',
        generateSecretString: { passwordLength: 64, excludePunctuation: true },
      },
    );
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
    // Undefined where CloudFormation uses the credentials of the person who deploys.
    const { cloudFormationExecutionRole } = Stack.of(this).synthesizer;
    const deploymentRole = cloudFormationExecutionRole && Fn.sub(cloudFormationExecutionRole);
    const exceptDeploymentsAnd = (others: readonly string[]) => {
      const arns = deploymentRole === undefined ? others : [...others, deploymentRole];
      return {
        ...(arns.length > 0 && { ArnNotEquals: { 'aws:PrincipalArn': arns } }),
        // It then calls in the name of that person.
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
}
