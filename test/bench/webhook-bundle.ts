import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../infra/config.ts';
import { CosechaStack } from '../../infra/stack.ts';

/** The one file of receive-webhook as it is deployed, and an environment that it loads in. */
export type WebhookBundle = { readonly file: string; readonly environment: Readonly<Record<string, string>> };

const cdkJson: { readonly context: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'),
);

type FunctionResource = {
  readonly Properties: {
    readonly Code: { readonly S3Key: string };
    readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
  };
};

/** Synthesizes the app into a directory, bundles included. */
export const webhookBundle = (outdir: string): WebhookBundle => {
  const settings = { stage: 'bench', providerBaseUrl: 'https://provider.example' };
  const app = new App({ context: { ...cdkJson.context, ...settings }, outdir });
  const stack = new CosechaStack(app, readConfig(app.node.getAllContext()));
  const functions = Template.fromStack(stack).findResources('AWS::Lambda::Function');
  const id = Object.keys(functions).find((name) => name.startsWith('ReceiveWebhook'));
  const { Code, Environment } = (functions[id ?? ''] as FunctionResource).Properties;
  app.synth();
  return {
    file: join(outdir, `asset.${Code.S3Key.replace(/\.zip$/, '')}`, 'index.mjs'),
    // Loading asks only that a name be there, so whatever stands for one of the stack's resources will do.
    environment: Object.fromEntries(
      Object.entries(Environment.Variables).map(([name, value]) => [name, String(value)]),
    ),
  };
};
