import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readConfig } from '../../../infra/config.ts';
import { CosechaStack } from '../../../infra/stack.ts';

export type Resource = {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
};

export type Template = {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
};

const cdkJson = JSON.parse(readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8')) as {
  readonly context: Readonly<Record<string, unknown>>;
};

/**
 * The template of a deployment to AWS with every setting at its default. The run is another's, as its waits are short:
 * what that costs per call is the same, and what depends on a setting is read here. Without bundling, which the
 * deployment has done.
 */
export const synthesizeTemplate = (): Template => {
  const outdir = mkdtempSync(join(tmpdir(), 'cosecha-cost-'));
  try {
    const required = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
    const app = new App({
      context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [], ...required },
      outdir,
    });
    const stack = new CosechaStack(app, readConfig(app.node.getAllContext()));
    return app.synth().getStackByName(stack.stackName).template as Template;
  } finally {
    rmSync(outdir, { recursive: true });
  }
};
