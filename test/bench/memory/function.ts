import { join } from 'node:path';
import { bundleFunctions } from '../../../infra/bundle/bundle-functions.ts';
import { environmentsOf, synthesize } from '../../unit/infra/synth.ts';
import { lambdaVariables } from '../cold/cases.ts';
import { factsOf } from '../cost/read-template.ts';

const { template } = synthesize();

/** The memory size of a function, in the template at its default settings. */
export const memoryOf = (name: string): number => factsOf(template).memoryMB[name] ?? Number.NaN;

/** Bundles the functions. Returns the file of reconcile-extraction. */
export const makeFunction = async (directory: string): Promise<string> => {
  const { code } = await bundleFunctions(join(directory, 'functions'));
  return join(code['reconcile-extraction'], 'index.js');
};

/** The variables of reconcile-extraction. `endpoint` is that of the provider and of AWS. */
export const awsVariables = (endpoint: string): NodeJS.ProcessEnv => ({
  ...lambdaVariables,
  ...environmentsOf(template).get('reconcile-extraction'),
  RESULTS_BUCKET: 'results',
  AWS_ENDPOINT_URL: endpoint,
  PROVIDER_BASE_URL: endpoint,
});
