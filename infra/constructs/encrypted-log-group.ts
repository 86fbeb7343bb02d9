import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Config } from '../config.ts';
import type { DataKey } from './data-key.ts';
import { removalPolicy } from './removal.ts';

interface EncryptedLogGroupProps {
  readonly config: Config;
  readonly dataKey: DataKey;
  /** Only for a service that delivers logs itself; all others get a generated name. */
  readonly logGroupName?: string;
  /**
   * For a part of the stack that a setting switches on and off: a log group that was kept would hold its fixed name, and
   * switching on again would fail as AlreadyExists.
   */
  readonly goesWithItsPart?: boolean;
}

/** A log group that is encrypted under the data key and keeps its events for `logRetentionDays`. */
export class EncryptedLogGroup extends LogGroup {
  constructor(
    scope: Construct,
    id: string,
    { config, dataKey, logGroupName, goesWithItsPart = false }: EncryptedLogGroupProps,
  ) {
    super(scope, id, {
      encryptionKey: dataKey.key,
      retention: config.logRetentionDays,
      removalPolicy: goesWithItsPart ? RemovalPolicy.DESTROY : removalPolicy(config),
      ...(logGroupName === undefined ? {} : { logGroupName }),
    });
  }
}

/**
 * The name of a log group to which a service delivers logs by itself. Under `/aws/vendedlogs/` the delivery
 * does not add to the account's one CloudWatch Logs resource policy, which is full at 5,120 characters. The
 * last part of the stack's id makes it new for each creation, as a retained group keeps its name.
 */
export const vendedLogGroupName = (service: 'states' | 'apigateway' | 'pipes', name: string): string =>
  `/aws/vendedlogs/${service}/${name}-${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
