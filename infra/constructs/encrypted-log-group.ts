import { Aws, Fn, Stack } from 'aws-cdk-lib';
import { type CfnLogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Config } from '../settings/config.ts';
import type { DataKey } from './data-key.ts';
import { removalPolicy } from './removal-policy.ts';

type Delivery = { readonly service: 'states' | 'apigateway'; readonly name: string };

type EncryptedLogGroupProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  /** Only for a service that delivers logs itself; all others get a generated name. */
  readonly deliveredBy?: Delivery;
};

/** A log group that is encrypted under the data key and keeps its events for `logRetentionDays`. */
export class EncryptedLogGroup extends LogGroup {
  constructor(scope: Construct, id: string, { config, dataKey, deliveredBy }: EncryptedLogGroupProps) {
    super(scope, id, {
      encryptionKey: dataKey.key,
      retention: config.logRetentionDays,
      removalPolicy: removalPolicy(config),
      ...(deliveredBy && { logGroupName: vendedLogGroupName(deliveredBy, lastPartOfStackId()) }),
    });
    // The key may be of another stack, with another id.
    dataKey.encryptLogGroups(deliveredBy ? vendedLogGroupName(deliveredBy, anyUuid) : this.generatedNames());
  }

  /**
   * CloudFormation makes the name of a group from the name of the stack, the logical id, and random letters. `Cosecha-eu-*` would also
   * fit the names of the stage `eu-prod`, but a stage has no capitals, so the first one of the logical id ends the name of the stack. The
   * whole id would not fit groups of a former version, which are retained and still have to be read.
   */
  private generatedNames(): string {
    const stack = Stack.of(this);
    return `${stack.stackName}-${stack.getLogicalId(this.node.defaultChild as CfnLogGroup).charAt(0)}*`;
  }
}

/**
 * The name of a log group to which a service delivers logs itself. With the prefix `/aws/vendedlogs/` the delivery adds
 * nothing to the account's one resource policy of CloudWatch Logs, which holds 5,120 characters. The last part of the
 * stack's id makes the name new for each creation, as a retained log group keeps its name.
 */
const vendedLogGroupName = ({ service, name }: Delivery, stackUuid: string): string =>
  `/aws/vendedlogs/${service}/${name}-${stackUuid}`;

const lastPartOfStackId = (): string => Fn.select(2, Fn.split('/', Aws.STACK_ID));

/** As a pattern. It does not fit `prod-` and a UUID, which may follow the name of the stage `eu`. */
const anyUuid = '????????-????-????-????-????????????';
