import { Template } from 'aws-cdk-lib/assertions';
import { type AcceptanceCode, acceptanceSources, addStage } from '#tools/acceptance/stage.ts';
import { functionNames } from '../../../../infra/lambda/contracts.ts';
import { withApp } from '../../infra/synth.ts';

/** Where the stage `local` finds its fake provider. */
const endpoint = 'http://127.0.0.1:4566';

/** The templates of an acceptance stage with these settings, without bundles. */
export const synthesizeStage = (settings: Readonly<Record<string, unknown>>) =>
  withApp(settings, (app, nothing) => {
    const names = [...functionNames, ...Object.keys(acceptanceSources)];
    const code = Object.fromEntries(names.map((name) => [name, nothing])) as AcceptanceCode;
    const { fakeProvider, cosecha, readers } = addStage(app, code, endpoint);
    return {
      fakeProvider: Template.fromStack(fakeProvider),
      cosecha: Template.fromStack(cosecha),
      isProtected: cosecha.terminationProtection,
      readers: Template.fromStack(readers),
    };
  });
