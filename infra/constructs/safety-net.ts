import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { EventField, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import type { CosechaFunction } from './cosecha-function.ts';

interface SafetyNetProps {
  readonly config: Config;
  readonly reconcile: CosechaFunction;
  readonly machine: IStateMachine;
}

/**
 * What reconciles when no machine does: a rule for executions that broke, which is best effort and fast, and
 * the sweep, which is the guarantee. What fails even there ends up in the dead-letter queue, and that alarms.
 */
export class SafetyNet extends Construct {
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { config, reconcile, machine }: SafetyNetProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      // SQS's own key: EventBridge and Lambda write here, and what they write are ids.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'This is the dead-letter queue; its senders are EventBridge and Lambda, which SQS does not know of.',
    });
    const counted = (metricName: string, service: string) =>
      new Metric({
        namespace: `Cosecha/${config.stage}`,
        metricName,
        dimensionsMap: { service },
        statistic: Stats.SUM,
        period: Duration.minutes(5),
      });
    const atTheFirst = {
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    };
    new Alarm(this, 'DeadLettersAlarm', {
      alarmDescription:
        'Something could not be reconciled: read the dead-letter queue. The next sweep tries again.',
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
      ...atTheFirst,
    });
    // What fails for one record does not fail the invocation, so the queue alone would stay silent.
    new Alarm(this, 'SweepFailedAlarm', {
      alarmDescription: 'The sweep could not bring an extraction forward. See docs/operations.md.',
      metric: counted('SweepFailed', 'reconcile-extraction'),
      ...atTheFirst,
    });
    new Alarm(this, 'SweepSilentAlarm', {
      alarmDescription: 'No sweep has run for three of its intervals. See docs/operations.md.',
      metric: counted('Swept', 'reconcile-extraction'),
      threshold: 1,
      evaluationPeriods: Math.ceil((3 * config.sweepEveryMinutes) / 5),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
    new Alarm(this, 'InvalidTaskTokenAlarm', {
      alarmDescription: 'Step Functions does not know a task token of ours. See docs/operations.md.',
      metric: counted('InvalidTaskToken', 'receive-webhook'),
      ...atTheFirst,
    });

    // One retry within minutes: whatever is still open then is found by the next sweep anyway.
    const soonOrNever = { retryAttempts: 1, maxEventAge: Duration.minutes(10) };
    reconcile.role.addToPolicy(allow(['sqs:SendMessage'], [this.deadLetters.queueArn]));
    new EventInvokeConfig(this, 'ReconcileInvocations', {
      function: reconcile.function,
      ...soonOrNever,
      // Bound by hand: SqsDestination would also let the function read the queue's attributes.
      onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
    }).node.addDependency(reconcile.role);

    const delivery = { ...soonOrNever, deadLetterQueue: this.deadLetters };
    new Rule(this, 'ExecutionBroken', {
      description: 'An execution ended otherwise than by succeeding: reconcile its extraction now',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [machine.stateMachineArn] },
      },
      targets: [
        new LambdaFunction(reconcile.function, {
          ...delivery,
          // The name and nothing else: the event also carries the execution's input.
          event: RuleTargetInput.fromObject({
            trigger: 'execution-broken',
            extractionId: EventField.fromPath('$.detail.name'),
          }),
        }),
      ],
    });
    new Rule(this, 'Sweep', {
      description: 'Reconcile everything that is open and due',
      schedule: Schedule.rate(Duration.minutes(config.sweepEveryMinutes)),
      targets: [
        new LambdaFunction(reconcile.function, {
          ...delivery,
          event: RuleTargetInput.fromObject({ trigger: 'sweep' }),
        }),
      ],
    });
  }
}
