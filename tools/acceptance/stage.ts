import { type App, CfnWaitCondition, CfnWaitConditionHandle } from 'aws-cdk-lib';
import { CosechaStack } from '../../infra/cosecha-stack.ts';
import type { FunctionCode } from '../../infra/lambda/contracts.ts';
import { readConfig } from '../../infra/settings/config.ts';
import { FakeProviderStack } from './fake-provider/fake-provider-stack.ts';
import { ReadersStack } from './readers-stack.ts';

/** The functions around an acceptance stage, and the source of each. */
export const acceptanceSources = {
  'fake-provider': 'tools/acceptance/fake-provider/function/fake-provider.ts',
  'stream-consumer': 'tools/acceptance/stream-consumer-handler.ts',
} as const;

export type AcceptanceCode = FunctionCode & Readonly<Record<keyof typeof acceptanceSources, string>>;

/**
 * Adds the three stacks of an acceptance stage: the fake provider, Cosecha, and its readers. `endpoint` is that of the emulator, for
 * the stage `local` and with `-c apiPath=…`. With `-c failUpdate=true`, an update of Cosecha's stack fails after a minute.
 *
 * @throws {ConfigError} as `readConfig` and `CosechaStack`
 */
export const addStage = (app: App, code: AcceptanceCode, endpoint: string | undefined) => {
  const { failUpdate, apiPath, ...context } = app.node.getAllContext();
  // The fake provider brings its address, which is known once its stack exists.
  const read = readConfig({ ...context, providerBaseUrl: 'https://fake-provider.invalid' });
  const config = apiPath === undefined ? read : { ...read, onCompleteEmulator: true as const };
  // First, as its address is a setting of Cosecha.
  const fakeProvider = new FakeProviderStack(app, config, code['fake-provider'], { endpoint, apiPath });
  const cosecha = new CosechaStack(app, config, code, fakeProvider.provider);
  if (failUpdate !== undefined) {
    // Nobody signals it, so CloudFormation goes back
    // (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-waitcondition.html).
    const { ref: handle } = new CfnWaitConditionHandle(cosecha, 'FailUpdateHandle');
    new CfnWaitCondition(cosecha, 'FailUpdate', { handle, count: 1, timeout: '60' });
  }
  const readers = new ReadersStack(app, config, code['stream-consumer']);
  // Cosecha's parameters, its stream and its bus exist by then.
  readers.addStackDependency(cosecha);
  return { fakeProvider, cosecha, readers };
};
