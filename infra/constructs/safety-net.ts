import { Duration } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';

type SafetyNetProps = {
  readonly config: Config;
  /** Reconciles one extraction. */
  readonly reconcile: CosechaFunction;
  /** Reconciles everything that is due. */
  readonly sweep: CosechaFunction;
  readonly machine: IStateMachine;
};

/**
 * Reconciles without the machine. A rule reacts to broken executions, which is fast but best effort. The sweep is the
 * guarantee. Invocations that fail twice go to the dead-letter queue, on which there is an alarm.
 */
export class SafetyNet extends Construct {
  readonly deadLetters: DeadLetterQueue;

  constructor(scope: Construct, id: string, { config, reconcile, sweep, machine }: SafetyNetProps) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { senders: 'EventBridge and Lambda' });

    // One retry within minutes, as the next sweep finds everything that is still due.
    const oneRetry = { retryAttempts: 1, maxEventAge: Duration.minutes(10) };
    for (const [id, invoked] of [
      ['ReconcileInvocations', reconcile],
      ['SweepInvocations', sweep],
    ] as const) {
      invoked.role.addToPolicy(allow(['sqs:SendMessage'], [this.deadLetters.queueArn]));
      new EventInvokeConfig(this, id, {
        function: invoked.function,
        ...oneRetry,
        // Not SqsDestination, which would also let the function read the queue's attributes.
        onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
      }).node.addDependency(invoked.role);
    }

    const delivery = { ...oneRetry, deadLetterQueue: this.deadLetters };
    new Rule(this, 'ExecutionBroken', {
      description: 'Reconciles the extraction of an execution that FAILED, TIMED_OUT or was ABORTED',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [machine.stateMachineArn] },
      },
      targets: [
        new LambdaFunction(reconcile.function, {
          ...delivery,
          // Only the name, as the event also carries the execution's input.
          event: RuleTargetInput.fromObject({
            trigger: 'execution-broken',
            extractionId: EventField.fromPath('$.detail.name'),
          }),
        }),
      ],
    });
    new Rule(this, 'Sweep', {
      description: 'The sweep: reconciles every extraction that is due',
      schedule: Schedule.rate(Duration.minutes(config.sweepEveryMinutes)),
      targets: [
        new LambdaFunction(sweep.function, {
          ...delivery,
          // The function ignores it. It identifies the message in the dead-letter queue.
          event: RuleTargetInput.fromObject({ trigger: 'sweep' }),
        }),
      ],
    });
  }
}
