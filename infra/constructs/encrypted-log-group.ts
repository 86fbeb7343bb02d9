import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Config } from '../settings/config.ts';
import type { DataKey } from './data-key.ts';
import { removalPolicy } from './removal-policy.ts';

type EncryptedLogGroupProps = {
  readonly config: Config;
  readonly dataKey: DataKey;
  /** Only for a service that delivers logs itself; all others get a generated name. */
  readonly logGroupName?: string;
  /**
   * Whether the group is deleted when the setting that adds it is switched off. A retained group would keep its fixed name,
   * and switching the setting on again would fail with AlreadyExists.
   */
  readonly deleteWithOption?: boolean;
};

/** A log group that is encrypted under the data key and keeps its events for `logRetentionDays`. */
export class EncryptedLogGroup extends LogGroup {
  constructor(
    scope: Construct,
    id: string,
    { config, dataKey, logGroupName, deleteWithOption = false }: EncryptedLogGroupProps,
  ) {
    super(scope, id, {
      encryptionKey: dataKey.key,
      retention: config.logRetentionDays,
      removalPolicy: deleteWithOption ? RemovalPolicy.DESTROY : removalPolicy(config),
      ...(logGroupName === undefined ? {} : { logGroupName }),
    });
  }
}

/**
 * The name of a log group to which a service delivers logs itself. With the prefix `/aws/vendedlogs/` the delivery adds
 * nothing to the account's one resource policy of CloudWatch Logs, which holds 5,120 characters. The last part of the
 * stack's id makes the name new for each creation, as a retained log group keeps its name.
 */
export const vendedLogGroupName = (service: 'states' | 'apigateway' | 'pipes', name: string): string =>
  `/aws/vendedlogs/${service}/${name}-${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
