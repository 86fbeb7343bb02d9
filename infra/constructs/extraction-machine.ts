import { ArnFormat, Stack, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { extractionMachineDefinition } from '../extraction-machine-definition.ts';
import type { Config } from '../settings/config.ts';
import { acknowledgeWildcard, allow } from './allow.ts';
import type { CosechaFunction } from './cosecha-function.ts';
import type { DataKey } from './data-key.ts';
import { EncryptedLogGroup } from './encrypted-log-group.ts';
import { isLocal } from './removal-policy.ts';
import type { Storage } from './storage.ts';

type ExtractionMachineProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly storage: Pick<Storage, 'startLine'>;
  readonly startTask: CosechaFunction;
  readonly reconcileExtraction: CosechaFunction;
};

/**
 * The machine's name and ARN, known before it exists. The machine refers to the functions, and the functions' roles
 * refer to the machine, so one of them has to use a fixed name.
 */
const extractionMachineName = ({ stage }: Config): string => `${stackNameOf(stage)}-extractions`;

export const extractionMachineArn = (scope: Construct, config: Config): string =>
  Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: extractionMachineName(config),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** The Standard state machine, one execution per extraction, with a role that may invoke its two functions and put starts in line. */
export class ExtractionMachine extends Construct {
  readonly machine: StateMachine;
  readonly logGroup: EncryptedLogGroup;

  constructor(scope: Construct, id: string, props: ExtractionMachineProps) {
    super(scope, id);
    const { config, dataKey } = props;
    const { startLine } = props.storage;
    const startTask = props.startTask.function;
    const reconcile = props.reconcileExtraction.function;
    const name = extractionMachineName(config);
    // The guide of Step Functions shows these conditions. That of Lambda shows none for the role of a function.
    // https://docs.aws.amazon.com/step-functions/latest/dg/procedure-create-iam-role.html#prevent-cross-service-confused-deputy
    const conditions = {
      StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
      ArnEquals: { 'aws:SourceArn': extractionMachineArn(this, config) },
    };
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com', { conditions }),
    });
    role.addToPolicy(allow(['lambda:InvokeFunction'], [startTask.functionArn, reconcile.functionArn]));
    role.addToPolicy(allow(['dynamodb:UpdateItem'], [startLine.tableArn]));
    role.addToPolicy(dataKey.allow('writeTables'));
    const used = {
      startTask: startTask.functionArn,
      reconcile: reconcile.functionArn,
      startLine: startLine.tableName,
    };
    // The emulator gives every error that a handler throws this name.
    const notYet = isLocal(config) ? ['NotYet', 'Runtime.HandlerError'] : undefined;
    const definition = extractionMachineDefinition(config, used, notYet);
    this.logGroup = new EncryptedLogGroup(this, 'Log', {
      config,
      dataKey,
      deliveredBy: { service: 'states', name: name },
    });
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineName: name,
      stateMachineType: StateMachineType.STANDARD,
      role,
      // As a string, because CloudFormation turns the numbers of an object into strings.
      definitionBody: DefinitionBody.fromString(Stack.of(this).toJsonString(definition)),
      logs: {
        destination: this.logGroup,
        // Failures only. Inputs and outputs have nothing but ids, and the history shows them.
        level: LogLevel.ERROR,
        includeExecutionData: false,
      },
    });
    const reason =
      'Log delivery has no resource-level permissions (Step Functions guide, "Logging to CloudWatch Logs").';
    acknowledgeWildcard(role, '*', reason);
    Validations.of(this.machine).acknowledge(
      {
        id: 'AwsSolutions-SF1',
        reason:
          'The execution history keeps every event for 90 days. A second copy in the log would only add cost.',
      },
      {
        id: 'AwsSolutions-SF2',
        reason:
          'A trace cannot span the wait for the webhook, which takes most of the time. The history shows the rest.',
      },
    );
  }
}
