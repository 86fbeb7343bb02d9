import { resolve } from 'node:path';
import { bundleFunctions } from './bundle/bundle-functions.ts';
import { CosechaStack } from './cosecha-stack.ts';
import { runApp } from './run-app.ts';
import { readConfig } from './settings/config.ts';

// cdk.json runs this with the first `node` of the PATH. npm and npx put the Node 24 of node_modules there.
// cdk.json names no stage and no provider, so a deployment that omits them stops here. Where none is set,
// `npm run synth` passes examples of both.
await runApp(async (app) => {
  const config = readConfig(app.node.getAllContext());
  // Beside the template, which names this directory itself when CDK does not stage assets.
  const { code } = await bundleFunctions(resolve(app.outdir, 'functions'));
  new CosechaStack(app, config, code);
});
