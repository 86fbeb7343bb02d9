import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { FunctionCode } from '../../../infra/bundle/bundle-functions.ts';
import { readConfig } from '../../../infra/config.ts';
import { functionNames } from '../../../infra/function-names.ts';
import { CosechaStack } from '../../../infra/stack.ts';
import { required } from './required-settings.ts';

const cdkJson: { readonly context: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'),
);

/**
 * The app as `cdk synth` makes it, feature flags included, and without bundles (bundle/ has their tests): the template
 * says of a bundle where it is and no more, so an empty directory will do for each.
 */
const synthesizeNow = (settings: Readonly<Record<string, unknown>>) => {
  const outdir = mkdtempSync(join(tmpdir(), 'cosecha-synth-'));
  try {
    const nothing = mkdtempSync(join(outdir, 'nothing-'));
    const code = Object.fromEntries(functionNames.map((name) => [name, nothing])) as FunctionCode;
    const app = new App({ context: { ...cdkJson.context, ...required, ...settings }, outdir });
    const stack = new CosechaStack(app, readConfig(app.node.getAllContext()), code);
    return { app, template: Template.fromStack(stack) };
  } finally {
    rmSync(outdir, { recursive: true });
  }
};

const synthesized = new Map<string, ReturnType<typeof synthesizeNow>>();

/** The app with these settings. Made once for each, as that takes a second and many tests ask for the defaults. */
export const synthesize = (settings: Readonly<Record<string, unknown>> = {}) => {
  const key = JSON.stringify(settings);
  const known = synthesized.get(key) ?? synthesizeNow(settings);
  synthesized.set(key, known);
  return known;
};

/** The parts of a resource that the tests look at. */
export type Resource = {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
};

/** Every resource of a type, by logical id. */
export const resourcesOf = (template: Template, type: string): Readonly<Record<string, Resource>> =>
  template.findResources(type) as Record<string, Resource>;

/** An ARN, a name or a policy in one line: intrinsics become `<LogicalId>` and `<LogicalId.Attribute>`. */
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
