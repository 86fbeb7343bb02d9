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
  /** Looks at one extraction. */
  readonly reconcile: CosechaFunction;
  /** Looks at all that is due. */
  readonly sweep: CosechaFunction;
  readonly machine: IStateMachine;
};

/**
 * What reconciles when no machine does: a rule for executions that broke, which is best effort and fast, and
 * the sweep, which is the guarantee. What fails even there ends up in the dead-letter queue (alarms.ts watches it).
 */
export class SafetyNet extends Construct {
  readonly deadLetters: DeadLetterQueue;

  constructor(scope: Construct, id: string, { config, reconcile, sweep, machine }: SafetyNetProps) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { senders: 'EventBridge and Lambda' });

    // One retry within minutes: whatever is still open then is found by the next sweep anyway.
    const soonOrNever = { retryAttempts: 1, maxEventAge: Duration.minutes(10) };
    for (const [id, invoked] of [
      ['ReconcileInvocations', reconcile],
      ['SweepInvocations', sweep],
    ] as const) {
      invoked.role.addToPolicy(allow(['sqs:SendMessage'], [this.deadLetters.queueArn]));
      new EventInvokeConfig(this, id, {
        function: invoked.function,
        ...soonOrNever,
        // Bound by hand: SqsDestination would also let the function read the queue's attributes.
        onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
      }).node.addDependency(invoked.role);
    }

    const delivery = { ...soonOrNever, deadLetterQueue: this.deadLetters };
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
          // The name and nothing else: the event also carries the execution's input.
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
          // It is read by nobody but who finds it among the dead letters.
          event: RuleTargetInput.fromObject({ trigger: 'sweep' }),
        }),
      ],
    });
  }
}
