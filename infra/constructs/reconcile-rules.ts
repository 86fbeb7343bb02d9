import { Duration } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction, SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Trigger } from '../../lib/aws/trigger.ts';
import type { ReconcileMessage } from '../../lib/extraction/reconcile-message.ts';
import type { Config } from '../settings/config.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import type { ReconcileQueue } from './reconcile-queue.ts';

type ReconcileRulesProps = {
  readonly config: Config;
  readonly queue: ReconcileQueue;
  /** Sends everything that is due to the queue. */
  readonly sweep: CosechaFunction;
  /** Releases starts that wait for the provider's rate. */
  readonly dispatcher: CosechaFunction;
  readonly machine: IStateMachine;
};

/**
 * Three rules, which act without the machine. One sends broken executions to the queue, which is fast but best effort.
 * Another invokes the sweep, which is the guarantee. The third sees to it that a dispatcher runs while starts wait. Changing the id `SafetyNet` would replace them.
 */
export class ReconcileRules extends Construct {
  readonly all: readonly Rule[];
  readonly executionBroken: Rule;
  readonly triggers: readonly Trigger[];

  constructor(
    scope: Construct,
    id: string,
    { config, queue, sweep, dispatcher, machine }: ReconcileRulesProps,
  ) {
    super(scope, id);
    const executionBroken = new Rule(this, 'ExecutionBroken', {
      description: 'Reconciles the extraction of an execution that FAILED, TIMED_OUT or was ABORTED',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [machine.stateMachineArn] },
      },
      targets: [
        new SqsQueue(queue.queue, {
          deadLetterQueue: queue.deadLetters,
          // Only the name, as the event also carries the execution's input.
          message: RuleTargetInput.fromObject({
            extractionId: EventField.fromPath('$.detail.name'),
            cause: 'execution-broken',
          } satisfies ReconcileMessage),
        }),
      ],
    });
    const scheduled = new Rule(this, 'Sweep', {
      description: 'The sweep: sends every extraction that is due to the queue',
      schedule: Schedule.rate(Duration.minutes(config.sweepEveryMinutes)),
      // A sweep that fails or is not delivered needs no dead letter: the next one does the same.
      targets: [
        new LambdaFunction(sweep.function, { event: RuleTargetInput.fromObject({ trigger: 'sweep' }) }),
      ],
    });
    const dispatching = new Rule(this, 'Dispatch', {
      description: 'The dispatcher: releases starts that wait in line, if none does',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [
        new LambdaFunction(dispatcher.function, {
          event: RuleTargetInput.fromObject({ trigger: 'schedule' }),
        }),
      ],
    });
    this.all = [executionBroken, scheduled, dispatching];
    this.executionBroken = executionBroken;
    this.triggers = [
      {
        name: 'broken executions',
        without: 'Extractions of broken executions wait for the sweep.',
        rule: executionBroken.ruleName,
      },
      { name: 'sweep', without: 'Nothing is guaranteed to end.', rule: scheduled.ruleName },
      {
        name: 'dispatch',
        without: 'Starts in line wait until another start comes.',
        rule: dispatching.ruleName,
      },
    ];
  }
}
