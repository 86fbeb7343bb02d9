import { resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { FakeProviderStack } from '../tools/acceptance/fake-provider/fake-provider-stack.ts';
import { ReadersStack } from '../tools/acceptance/readers-stack.ts';
import { bundleFunctions } from './bundle/bundle-functions.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { checkAwsSolutions } from './nag.ts';
import { refuseLocalOnAws } from './refuse-local-on-aws.ts';
import { refuseWrongEnvironment } from './refuse-wrong-environment.ts';
import { CosechaStack } from './stack.ts';

// cdk.json runs this with `npx node`, which is the Node 24 of node_modules, also when another Node runs the CDK CLI.
// cdk.json names no stage and no provider, so a deployment that omits them stops here. `npm run synth` passes examples of
// both, and a later -c overrides them.
const app = new App();
try {
  const config = readConfig(app.node.getAllContext());
  refuseLocalOnAws(config, process.env);
  refuseWrongEnvironment(config, process.env);
  // Beside the template, which names this directory itself when CDK does not stage assets.
  const { code } = await bundleFunctions(resolve(app.outdir, 'functions'));
  const probe = config.probe ? new FakeProviderStack(app, config, code, process.env) : undefined;
  // The probe comes first: its address is a setting of Cosecha.
  const cosecha = new CosechaStack(app, { ...config, ...probe?.provider }, code);
  // Its parameters, its stream and its bus exist by then.
  if (probe !== undefined) new ReadersStack(app, config, code).addStackDependency(cosecha);
  checkAwsSolutions(app);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
