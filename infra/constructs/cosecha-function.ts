import type { Duration } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  type RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { defined } from '../../lib/defined.ts';
import { metricsNamespace } from '../../lib/observability/metric-names.ts';
import type { Config } from '../settings/config.ts';
import { acknowledgeWildcard, allow } from './allow.ts';
import type { DataKey } from './data-key.ts';
import { EncryptedLogGroup } from './encrypted-log-group.ts';
import type { Network } from './network-props.ts';

type CosechaFunctionProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly name: string;
  /** The directory of its bundle. */
  readonly code: string;
  readonly timeout: Duration;
  readonly memoryMB: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Everything that the function may do, beside writing its own log. */
  readonly permissions: readonly PolicyStatement[];
  /** Default: outside of any VPC. */
  readonly network?: Network | undefined;
  /** The concurrency that is reserved for this function, which is also its maximum. */
  readonly reservedConcurrency?: number | undefined;
  /** Of asynchronous invocations, which Lambda else keeps for six hours and repeats twice after an error. */
  readonly asynchronous?: { readonly maxEventAge: Duration; readonly retryAttempts: number };
  /** Default: Lambda stops the function where it has invoked itself, through a queue, about 16 times in a row. */
  readonly recursiveLoop?: RecursiveLoop;
};

/** A Lambda function on Node 24 and arm64: one bundled file, its own log group, and only the permissions given here. */
export class CosechaFunction extends Construct {
  readonly function: LambdaFunction;
  readonly role: Role;
  readonly logGroup: EncryptedLogGroup;

  constructor(scope: Construct, id: string, props: CosechaFunctionProps) {
    super(scope, id);
    const { config, dataKey, code, name, network } = props;
    this.logGroup = new EncryptedLogGroup(this, 'Log', { config, dataKey });
    // Its own role, as the managed policy that CDK attaches by default may create and write any log group.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    for (const statement of props.permissions) this.role.addToPolicy(statement);
    if (network) this.allowNetworkInterfaces();
    this.function = new LambdaFunction(this, 'Function', {
      description: `Cosecha ${config.stage}: ${name}`,
      code: Code.fromAsset(code),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      role: this.role,
      logGroup: this.logGroup,
      timeout: props.timeout,
      memorySize: props.memoryMB,
      environment: {
        POWERTOOLS_SERVICE_NAME: name,
        POWERTOOLS_METRICS_NAMESPACE: metricsNamespace(config.stage),
        POWERTOOLS_LOG_LEVEL: 'INFO',
        ...props.environment,
      },
      ...props.asynchronous,
      ...defined({
        vpc: network?.vpc,
        vpcSubnets: network?.subnets,
        securityGroups: network?.securityGroups && [...network.securityGroups],
        reservedConcurrentExecutions: props.reservedConcurrency,
        recursiveLoop: props.recursiveLoop,
      }),
    });
  }

  /**
   * Lambda makes the network interfaces of a function with the function's role
   * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions).
   */
  private allowNetworkInterfaces(): void {
    const actions = [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ];
    this.role.addToPolicy(allow(actions, ['*']));
    const reason =
      'Lambda checks these permissions before the interfaces exist. EC2 describes without resources.';
    acknowledgeWildcard(this.role, '*', reason);
  }
}
