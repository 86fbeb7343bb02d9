import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../infra/config.ts';
import type { FunctionCode } from '../../../infra/function-names.ts';
import { acceptanceFunctionNames, functionNames } from '../../../infra/function-names.ts';
import { CosechaStack } from '../../../infra/stack.ts';
import { FakeProviderStack } from '../../../tools/acceptance/fake-provider/fake-provider-stack.ts';
import { ReadersStack } from '../../../tools/acceptance/readers-stack.ts';
import { required } from './required-settings.ts';

const cdkJson: { readonly context: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'),
);

/** Where the stage `local` finds its probe. */
const emulator = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' };

/**
 * Synthesizes the app with the feature flags of cdk.json and without bundles, which bundle/ tests. The template only names
 * the directory of a bundle, so an empty directory suffices.
 */
const synthesizeNow = (settings: Readonly<Record<string, unknown>>) => {
  const outdir = mkdtempSync(join(tmpdir(), 'cosecha-synth-'));
  try {
    const nothing = mkdtempSync(join(outdir, 'nothing-'));
    const names = [...functionNames, ...acceptanceFunctionNames];
    const code = Object.fromEntries(names.map((name) => [name, nothing])) as FunctionCode;
    const app = new App({ context: { ...cdkJson.context, ...required, ...settings }, outdir });
    const config = readConfig(app.node.getAllContext());
    const probe = config.probe ? new FakeProviderStack(app, config, code, emulator) : undefined;
    const stack = new CosechaStack(app, { ...config, ...probe?.provider }, code);
    const readers = probe && new ReadersStack(app, config, code);
    return {
      app,
      template: Template.fromStack(stack),
      ...(probe && { fakeProviderTemplate: Template.fromStack(probe) }),
      ...(readers && { readersTemplate: Template.fromStack(readers) }),
    };
  } finally {
    rmSync(outdir, { recursive: true });
  }
};

const synthesized = new Map<string, ReturnType<typeof synthesizeNow>>();

/** The app with these settings. It is cached, as a synthesis takes a second and many tests need the defaults. */
export const synthesize = (settings: Readonly<Record<string, unknown>> = {}) => {
  const key = JSON.stringify(settings);
  const known = synthesized.get(key) ?? synthesizeNow(settings);
  synthesized.set(key, known);
  return known;
};

/** The parts of a resource that the tests read. */
export type Resource = {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
};

/** Every resource of a type, by logical id. */
export const resourcesOf = (template: Template, type: string): Readonly<Record<string, Resource>> =>
  template.findResources(type) as Record<string, Resource>;

/** An ARN, a name or a policy as one text: intrinsics become `<LogicalId>` and `<LogicalId.Attribute>`. */
export const flatten = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(flatten).join('');
  const [[intrinsic, argument] = ['', undefined]] = Object.entries(value as object);
  if (intrinsic === 'Ref') return `<${shortName(String(argument))}>`;
  if (intrinsic === 'Fn::GetAtt' && Array.isArray(argument)) {
    return `<${shortName(String(argument[0]))}.${String(argument[1])}>`;
  }
  if (intrinsic === 'Fn::Join' && Array.isArray(argument)) return flatten(argument[1]);
  throw new Error(`Cannot flatten ${JSON.stringify(value)}`);
};

/** A logical id without the eight hexadecimal digits that CDK appends. */
const shortName = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');
