import { Aws, CfnOutput, Duration, RemovalPolicies, Stack } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledgeWildcard, allow } from '../../infra/constructs/allow.ts';
import { CosechaFunction } from '../../infra/constructs/cosecha-function.ts';
import { DataKey } from '../../infra/constructs/data-key.ts';
import { isLocal } from '../../infra/constructs/removal-policy.ts';
import { ExtractionConsumer } from '../../infra/constructs/stream/extraction-consumer.ts';
import type { Config } from '../../infra/settings/config.ts';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { Inbox } from './fake-provider/inbox.ts';
import { readersStackNameOf } from './settings.ts';

/**
 * Plays those who use a stage with a fake provider, for `npm run accept`: another caller, a service that reads the stream, and a
 * rule of the event bus. It is deployed after Cosecha and deleted before it, as downstream stacks are.
 */
export class ReadersStack extends Stack {
  constructor(scope: Construct, config: Config, code: string) {
    super(scope, readersStackNameOf(config.stage), {
      description: `Cosecha ${config.stage}: callers and readers that the checks use`,
    });
    this.stranger();
    if (config.publishEvents) this.busReader(config);
    // The emulator knows no bucket as the destination of failed batches.
    if (!isLocal(config)) this.streamConsumer(config, code);
    RemovalPolicies.of(this).destroy();
  }

  /** A role that may read extractions, and has requested none. Every API answers it 404. */
  private stranger(): void {
    const role = new Role(this, 'Stranger', { assumedBy: new AccountRootPrincipal() });
    const reads = `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:*/$default/GET/extractions/*`;
    role.addToPolicy(allow(['execute-api:Invoke'], [reads]));
    const reason = 'Its one use is to be refused. It reads nothing, as it has requested no extraction.';
    acknowledgeWildcard(role, reads, reason);
    this.output('StrangerRoleArn', role.roleArn, 'The role of another caller');
  }

  private busReader({ stage }: Config): void {
    const inbox = new Inbox(this, 'BusInbox');
    new Rule(this, 'Settled', {
      eventBus: EventBus.fromEventBusName(this, 'Bus', `${stackNameOf(stage)}-outcomes`),
      eventPattern: { source: ['cosecha'], detailType: ['extraction.settled'] },
      targets: [new SqsQueue(inbox)],
    });
    this.output('BusQueueUrl', inbox.queueUrl, 'The queue with the events of the bus');
  }

  private streamConsumer(config: Config, code: string): void {
    const consumer = new CosechaFunction(this, 'StreamConsumer', {
      config,
      code,
      dataKey: new DataKey(this, 'DataKey', { config, name: this.stackName }),
      name: 'stream-consumer',
      timeout: Duration.seconds(10),
      memoryMB: 256,
      environment: {},
      permissions: [],
    });
    const { failures } = new ExtractionConsumer(this, 'Consumer', {
      stage: config.stage,
      handler: consumer.function,
      // A failing record is abandoned within seconds, as a run does not wait for twelve hours.
      retryAttempts: 2,
    });
    this.output('ConsumerLogGroup', consumer.logGroup.logGroupName, 'The log of the consumer of the stream');
    this.output(
      'ConsumerFailuresBucket',
      failures.bucketName,
      'The bucket with what that consumer failed on',
    );
  }

  private output(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description });
  }
}
