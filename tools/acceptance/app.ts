import { resolve } from 'node:path';
import { bundle, bundleFunctions } from '../../infra/bundle/bundle-functions.ts';
import { runApp } from '../../infra/run-app.ts';
import { acceptanceSources, addStage } from './stage.ts';

// The CDK app of `npm run accept`. The CDK CLI runs it in place of infra/app.ts.
await runApp(async (app) => {
  const outdir = resolve(app.outdir, 'functions');
  const [{ code }, own] = await Promise.all([bundleFunctions(outdir), bundle(outdir, acceptanceSources)]);
  addStage(app, { ...code, ...own.code }, process.env.AWS_ENDPOINT_URL);
});
