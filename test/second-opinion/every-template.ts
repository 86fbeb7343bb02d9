import { Template } from 'aws-cdk-lib/assertions';
import { TotalsStack } from '../../examples/consumer/stack.ts';
import { RefreshStack } from '../../examples/refresh/stack.ts';
import { newApp, twoInOneStack, withWhatTheAccountHas } from '../unit/infra/embedded.ts';
import { everyOption, synthesize } from '../unit/infra/synth.ts';
import { synthesizeStage } from '../unit/tools/acceptance/synth.ts';

/** The template of every stack that this repository makes, in every shape that settings and props give it. */
export const everyTemplate = (): ReadonlyMap<string, Template> => {
  const { cosecha, fakeProvider, readers } = synthesizeStage({ stage: 'accept', publishEvents: 'true' });
  return new Map([
    ['defaults', synthesize().template],
    ['every-option', synthesize(everyOption).template],
    ['local', synthesize({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' }).template],
    ['accept', cosecha],
    ['accept-fake-provider', fakeProvider],
    ['accept-readers', readers],
    ['embedded-twice', twoInOneStack().template],
    ['embedded-in-vpc', withWhatTheAccountHas().template],
    ['example-consumer', Template.fromStack(new TotalsStack(newApp(), 'prod'))],
    ['example-refresh', Template.fromStack(new RefreshStack(newApp({ apiUrl: 'https://a', apiId: 'a' })))],
  ]);
};
