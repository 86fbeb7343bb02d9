import { ArnFormat, Aws, Stack, Validations } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import { removalPolicy } from './removal.ts';

/**
 * The three secrets, with fixed names: the functions, their grants and the commands that fill them go by name,
 * as a `Ref` gives the ARN on AWS and the name on the emulator. CfnSecret, since the L2 would invent a value
 * for the two that only the provider knows; unfilled they have none, and the functions say so.
 */
export class Secrets extends Construct {
  readonly providerApiKey: string;
  readonly webhookSigningKey: string;
  readonly fingerprintKey: string;
  private readonly config: Config;

  constructor(scope: Construct, id: string, { config }: { readonly config: Config }) {
    super(scope, id);
    this.config = config;
    this.providerApiKey = this.secret('ProviderApiKey', 'provider-api-key', {
      description: 'The API key of this stack at the provider',
      notRotated: 'The provider issues it; it is replaced with the command in the output FillProviderApiKey.',
    });
    this.webhookSigningKey = this.secret('WebhookSigningKey', 'webhook-signing-key', {
      description: 'The key, shared with the provider, that signs and encrypts webhooks',
      notRotated:
        'The provider issues it; AWSCURRENT and AWSPREVIOUS are both accepted while it is replaced.',
    });
    this.fingerprintKey = this.secret('FingerprintKey', 'fingerprint-key', {
      description: 'The HMAC key of request fingerprints, which detect a repeated request. Never rotate it',
      notRotated: 'Rotation would make every repeated request look like a different one.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
  }

  /** Reading this one secret. The six random characters are part of every secret's ARN. */
  reading(secretName: string): PolicyStatement {
    const arn = Stack.of(this).formatArn({
      service: 'secretsmanager',
      resource: 'secret',
      resourceName: `${secretName}-??????`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    return allow(['secretsmanager:GetSecretValue'], [arn]);
  }

  /**
   * A command that fills this secret. The value is typed unseen and goes through a pipe: neither the shell's
   * history nor the list of processes ever has it.
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
    const fullName = `${Stack.of(this).stackName}/${name}`;
    const secret = new CfnSecret(this, id, {
      name: fullName,
      description,
      ...(generateSecretString === undefined ? {} : { generateSecretString }),
    });
    secret.applyRemovalPolicy(removalPolicy(this.config));
    Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason: notRotated });
    return fullName;
  }
}
