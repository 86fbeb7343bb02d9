import { CfnOutput, Duration, RemovalPolicies, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { HttpApi, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { CfnSecret, type CfnSecretProps } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { allow } from '../../../infra/constructs/allow.ts';
import { CosechaFunction } from '../../../infra/constructs/cosecha-function.ts';
import { DataKey } from '../../../infra/constructs/data-key.ts';
import { EncryptedLogGroup } from '../../../infra/constructs/encrypted-log-group.ts';
import { accessLogFormat, throttleOf } from '../../../infra/constructs/extraction-api.ts';
import { isLocal } from '../../../infra/constructs/removal-policy.ts';
import { secretArn } from '../../../infra/constructs/secrets.ts';
import type { FakeProvider } from '../../../infra/cosecha-stack.ts';
import type { Config } from '../../../infra/settings/config.ts';
import { ConfigError } from '../../../infra/settings/config-error.ts';
import { emulatorApiUrl } from '../../cli/aws/local-deployment.ts';
import { fakeProviderStackNameOf } from '../settings.ts';
import { fakeClient } from './function/answer-consent-flow.ts';
import { AlarmInbox, Inbox } from './inbox.ts';

/** Where an emulator is, if the stage is on one, and the path of an HTTP API there (`emulatorApiUrl`). */
type EmulatorAddress = {
  readonly endpoint?: string | undefined;
  readonly apiPath?: string | undefined;
};

/** A start call that the scenario `hangs` is answered after 25 s. API Gateway ends a call after 30 s. */
const timeout = Duration.seconds(29);

/**
 * Plays the provider for one stage, without any state (docs/design.md, section 14). Everything in it is deleted with the stack.
 *
 * The webhook is registered as at the real provider. `npm run accept` writes its address and the keys that both sides share
 * to a secret of this stack, so that neither stack needs the other one first.
 */
export class FakeProviderStack extends Stack {
  /** What takes the place of the settings of Cosecha. */
  readonly provider: FakeProvider;

  constructor(scope: Construct, config: Config, code: string, emulator: EmulatorAddress) {
    super(scope, fakeProviderStackNameOf(config.stage), {
      description: `Cosecha ${config.stage}: the fake provider`,
    });
    const dataKey = new DataKey(this, 'DataKey', { config, name: this.stackName });
    // Holds each webhook until it is due, 15 minutes at most: the id of its task, and no body. Lambda requires at least the
    // timeout of the function, and recommends six times as much.
    const deliveries = new Inbox(this, 'Deliveries', {
      visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()),
    });
    const registration = this.secret('Registration', 'registration', {
      description: 'What `npm run accept` registers: webhookUrl, signingKey and apiKey, as JSON',
    });
    const tokenKey = this.secret('TokenKey', 'token-key', {
      description: 'The key that authenticates the tokens and ids of the fake provider',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    const fakeProvider = new CosechaFunction(this, 'FakeProvider', {
      config,
      dataKey,
      code,
      name: 'fake-provider',
      timeout,
      memoryMB: 512,
      environment: {
        REGISTRATION_SECRET: registration,
        TOKEN_KEY_SECRET: tokenKey,
        DELIVERY_QUEUE_URL: deliveries.queueUrl,
      },
      permissions: [
        allow(
          ['secretsmanager:GetSecretValue'],
          [registration, tokenKey].map((name) => secretArn(this, name)),
        ),
        // The last three are Lambda's, which reads the queue with this role.
        // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
        allow(
          ['sqs:SendMessage', 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
          [deliveries.queueArn],
        ),
      ],
    });
    new EventSourceMapping(this, 'DueDeliveries', {
      target: fakeProvider.function,
      eventSourceArn: deliveries.queueArn,
      batchSize: 1,
    }).node.addDependency(fakeProvider.role);
    const api = this.api(config, dataKey, fakeProvider);
    const isEmulated = isLocal(config) || emulator.apiPath !== undefined;
    const url = isEmulated ? urlOnEmulator(api.apiId, emulator) : api.apiEndpoint;
    const { topicArn } = new AlarmInbox(this, 'Alarms');
    this.provider = { providerBaseUrl: url, ...fakeClient, alarmTopicArn: topicArn };
    new CfnOutput(this, 'FakeProviderUrl', {
      value: url,
      description: 'The base address of the fake provider’s API',
    });
    RemovalPolicies.of(this).destroy();
  }

  /** Adds a secret and returns its name. CloudFormation deletes it at once, so the name can be used again. */
  private secret(
    id: string,
    name: string,
    props: Pick<CfnSecretProps, 'description' | 'generateSecretString'>,
  ): string {
    const fullName = `${this.stackName}/${name}`;
    const secret = new CfnSecret(this, id, { name: fullName, ...props });
    secret.applyRemovalPolicy(RemovalPolicy.DESTROY);
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'It guards nothing but invented data, and is deleted with the run of `npm run accept`.',
    });
    return fullName;
  }

  /** One route for everything, as the function knows the paths. */
  private api(config: Config, dataKey: DataKey, fakeProvider: CosechaFunction): HttpApi {
    const name = `${this.stackName}-api`;
    const api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      defaultIntegration: new HttpLambdaIntegration('Integration', fakeProvider.function),
    });
    Validations.of(api).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason:
        'Cosecha calls it as it calls the provider, with an API key and Bearer tokens that the function checks.',
    });
    const deliveredBy = { service: 'apigateway', name } as const;
    new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: throttleOf(config.apiRateLimit),
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new EncryptedLogGroup(this, 'AccessLog', { config, dataKey, deliveredBy }),
        ),
        format: accessLogFormat,
      },
    });
    return api;
  }
}

/**
 * Where an emulator serves the API of the fake provider. The functions reach the emulator at the same address as the CDK CLI.
 * @throws {ConfigError} without an endpoint
 */
const urlOnEmulator = (apiId: string, { endpoint, apiPath }: EmulatorAddress): string => {
  if (endpoint) return emulatorApiUrl(endpoint, apiId, apiPath);
  throw new ConfigError(
    'A stage on an emulator needs AWS_ENDPOINT_URL: the address of the fake provider contains that of the emulator.',
  );
};
