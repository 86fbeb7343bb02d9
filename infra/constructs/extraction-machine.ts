import { ArnFormat, Stack, Validations } from 'aws-cdk-lib';
import { type IRole, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Config } from '../config.ts';
import { allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { EncryptedLogGroup, vendedLogGroupName } from './encrypted-log-group.ts';
import { extractionMachineDefinition } from './extraction-machine-definition.ts';

type ExtractionMachineProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly startTask: IFunction;
  readonly reconcile: IFunction;
};

/**
 * The machine's name and ARN, known before it exists. The machine needs the functions and the functions' roles
 * need the machine: only a name breaks that circle.
 */
export const extractionMachineName = (stack: Stack): string => `${stack.stackName}-extractions`;

export const extractionMachineArn = (stack: Stack): string =>
  stack.formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: extractionMachineName(stack),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

const executionsOf = (stack: Stack): string =>
  stack.formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${extractionMachineName(stack)}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** Reading what this machine's executions, and no others, were started with. */
export const describingExecutions = (stack: Stack): PolicyStatement =>
  allow(['states:DescribeExecution'], [executionsOf(stack)]);

/** The reason why `describingExecutions` names every execution. */
export const acknowledgeEveryExecution = (role: IRole): void => {
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:${extractionMachineName(Stack.of(role))}:*]`,
    reason: 'Executions are named by extraction, so one machine of ours is as narrow as it gets.',
  });
};

/** The Standard state machine of one extraction, and a role that may invoke its two functions. */
export class ExtractionMachine extends Construct {
  readonly machine: StateMachine;

  constructor(scope: Construct, id: string, props: ExtractionMachineProps) {
    super(scope, id);
    const { config, dataKey, startTask, reconcile } = props;
    const stack = Stack.of(this);
    const name = extractionMachineName(stack);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    role.addToPolicy(allow(['lambda:InvokeFunction'], [startTask.functionArn, reconcile.functionArn]));
    const definition = extractionMachineDefinition(config, {
      startTask: startTask.functionArn,
      reconcile: reconcile.functionArn,
    });
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineName: name,
      stateMachineType: StateMachineType.STANDARD,
      role,
      // As a string: CloudFormation hands the numbers of an object on as strings.
      definitionBody: DefinitionBody.fromString(stack.toJsonString(definition)),
      logs: {
        destination: new EncryptedLogGroup(this, 'Log', {
          config,
          dataKey,
          logGroupName: vendedLogGroupName('states', name),
        }),
        // Failures only, and never with data: inputs hold requests and sealed request data.
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'Log delivery has no resource-level permissions (Step Functions guide, "Logging to CloudWatch Logs").',
    });
    Validations.of(this.machine).acknowledge(
      {
        id: 'AwsSolutions-SF1',
        reason:
          'The execution history has every event for 90 days; logging all of them again would only cost.',
      },
      {
        id: 'AwsSolutions-SF2',
        reason:
          'A trace cannot span the wait for the webhook, which is what takes the time; the history shows the rest.',
      },
    );
  }
}
