import { Template } from 'aws-cdk-lib/assertions';
import { TotalsStack } from '../../examples/consumer/stack.ts';
import { newApp, twoInOneStack, withWhatTheAccountHas } from '../unit/infra/embedded.ts';
import { everyOption, synthesize } from '../unit/infra/synth.ts';

/** The template of every stack that this repository makes, in every shape that settings and props give it. */
export const everyTemplate = (): ReadonlyMap<string, Template> => {
  const {
    template: accept,
    probeTemplate,
    readersTemplate,
  } = synthesize({
    stage: 'accept',
    probe: 'true',
    fanOutToEventBus: 'true',
  });
  if (probeTemplate === undefined || readersTemplate === undefined) throw new Error('There is no probe.');
  return new Map([
    ['defaults', synthesize().template],
    ['every-option', synthesize(everyOption).template],
    ['local', synthesize({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' }).template],
    ['accept', accept],
    ['accept-probe', probeTemplate],
    ['accept-readers', readersTemplate],
    ['embedded-twice', twoInOneStack().template],
    ['embedded-in-vpc', withWhatTheAccountHas().template],
    ['example-consumer', Template.fromStack(new TotalsStack(newApp(), 'prod'))],
  ]);
};
