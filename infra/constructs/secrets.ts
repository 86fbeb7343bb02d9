import { ArnFormat, Aws, type Stack, Validations } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, type IRole, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnResourcePolicy, CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { Config } from '../settings/config.ts';
import { allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { isLocal, removalPolicy } from './removal-policy.ts';

/** Permission to read the secret of this name. Every secret's ARN ends in six random characters. */
export const readingSecret = (stack: Stack, secretName: string): PolicyStatement => {
  const arn = stack.formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${secretName}-??????`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return allow(['secretsmanager:GetSecretValue'], [arn]);
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
      notRotated: 'The provider issues it. The command in the output FillProviderApiKey replaces it.',
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
   * Denies the fingerprint key to everybody but these roles, whatever the identity policies of the account allow. Who has the key
   * can guess what its MACs are of. The key of the condition is the ARN of the role, not of its session
   * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-principalarn).
   */
  reserveFingerprintKey(...roles: readonly IRole[]): void {
    // The emulator's CloudFormation does not know this type.
    if (isLocal(this.config)) return;
    const secret = this.node.findChild('FingerprintKey') as CfnSecret;
    new CfnResourcePolicy(this, 'FingerprintKeyPolicy', {
      secretId: secret.ref,
      resourcePolicy: new PolicyDocument({
        statements: [
          new PolicyStatement({
            sid: 'OnlyTheFunctions',
            effect: Effect.DENY,
            principals: [new AnyPrincipal()],
            actions: ['secretsmanager:GetSecretValue'],
            resources: ['*'],
            conditions: { ArnNotEquals: { 'aws:PrincipalArn': roles.map(({ roleArn }) => roleArn) } },
          }),
        ],
      }),
    }).applyRemovalPolicy(removalPolicy(this.config));
  }

  /**
   * A command that fills this secret. It reads the value without echo and passes it through a pipe, so that neither the
   * shell's history nor the list of processes contains it.
   */
  fillCommand(secretName: string): string {
    return `read -rs VALUE && printf %s "$VALUE" | aws secretsmanager put-secret-value --region ${Aws.REGION} --secret-id ${secretName} --secret-string file:///dev/stdin; unset VALUE`;
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
