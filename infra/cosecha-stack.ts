import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { disposableStagePattern, stackNameOf } from '../lib/aws/stage.ts';
import { isDisposable } from './constructs/removal-policy.ts';
import { Cosecha } from './cosecha.ts';
import type { FunctionCode } from './lambda/contracts.ts';
import type { Config } from './settings/config.ts';
import { ConfigError } from './settings/config-error.ts';

/** What a fake provider puts in place of the settings: the provider, and where alarms go. */
export type FakeProvider = Pick<
  Config,
  'providerBaseUrl' | 'providerClientId' | 'widgetConfigId' | 'alarmTopicArn'
>;

/** All of Cosecha in one stack named `Cosecha-<stage>`. It is bound to no account and no region. */
export class CosechaStack extends Stack {
  /**
   * @param fakeProvider takes the place of the provider. The data of the stage is then deleted with the stack
   * @throws {ConfigError} for a fake provider in a stage that may hold data
   */
  constructor(scope: Construct, config: Config, code: FunctionCode, fakeProvider?: FakeProvider) {
    const deployed = fakeProvider === undefined ? config : withFakeProvider(config, fakeProvider);
    super(scope, stackNameOf(config.stage), {
      description: 'Cosecha: starts extractions of financial data and never loses an outcome',
      // Data outlives the stack. The API, the webhook's address, messages and running executions do not.
      terminationProtection: !isDisposable(deployed),
    });
    // CDK leaves the id `Default` out of logical ids, so that outputs and resources have plain names here.
    new Cosecha(this, 'Default', { ...deployed, built: { config: deployed, code } });
  }
}

const withFakeProvider = (config: Config, fakeProvider: FakeProvider): Config => {
  if (disposableStagePattern.test(config.stage)) return { ...config, ...fakeProvider, hasFakeProvider: true };
  throw new ConfigError(
    `The stage "${config.stage}" cannot have a fake provider, as its data would be deleted with the stack: the stage must be accept, accept-… or local.`,
  );
};
