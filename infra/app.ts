import { resolve } from 'node:path';
import { bundleFunctions } from './bundle/bundle-functions.ts';
import { CosechaStack } from './cosecha-stack.ts';
import { runApp } from './run-app.ts';
import { readConfig } from './settings/config.ts';
import { readStage } from './settings/read-stage.ts';

// cdk.json runs this with the first `node` of the PATH. npm and npx put the Node 24 of node_modules there.
// A deployment that names no stage stops here. `npm run synth` without one passes examples of both required settings.
await runApp(async (app) => {
  const config = readConfig(readStage(app.node.getAllContext()));
  // Beside the template, which names this directory itself when CDK does not stage assets.
  const { code } = await bundleFunctions(resolve(app.outdir, 'functions'));
  new CosechaStack(app, config, code);
});
