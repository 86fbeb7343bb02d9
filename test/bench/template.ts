import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readConfig } from '../../infra/config.ts';
import { CosechaStack } from '../../infra/cosecha-stack.ts';
import { type FunctionCode, functionNames } from '../../infra/function-names.ts';

export type Resource = {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
};

export type Template = {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
};

const cdkJson = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')) as {
  readonly context: Readonly<Record<string, unknown>>;
};

/**
 * The template of a deployment with default settings, without the functions' code. The measured deployment has shorter
 * waits: its costs per call are the same, and everything that depends on a setting is read from this template.
 */
export const synthesizeTemplate = (): Template => {
  const outdir = mkdtempSync(join(tmpdir(), 'cosecha-template-'));
  try {
    const required = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
    const app = new App({ context: { ...cdkJson.context, ...required }, outdir });
    const nothing = join(outdir, 'nothing');
    mkdirSync(nothing);
    const noCode = Object.fromEntries(functionNames.map((name) => [name, nothing])) as FunctionCode;
    const stack = new CosechaStack(app, readConfig(app.node.getAllContext()), noCode);
    return app.synth().getStackByName(stack.stackName).template as Template;
  } finally {
    rmSync(outdir, { recursive: true });
  }
};
