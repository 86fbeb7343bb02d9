import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import type { FunctionCode } from '../../../infra/bundle/bundle-functions.ts';
import { readConfig } from '../../../infra/config.ts';
import { functionNames } from '../../../infra/function-names.ts';
import { CosechaStack } from '../../../infra/stack.ts';
import { required } from './required-settings.ts';

// Vitest ends its workers before CDK could remove what it synthesizes into.
const workspace = mkdtempSync(join(tmpdir(), 'cosecha-synth-'));
afterAll(() => rmSync(workspace, { recursive: true }));

const cdkJson: { readonly context: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'),
);

const nothing = mkdtempSync(join(workspace, 'nothing-'));

/** The template says of a bundle where it is and no more, so an empty directory will do for each. */
const noCode = Object.fromEntries(functionNames.map((name) => [name, nothing])) as FunctionCode;

/** The app as `cdk synth` makes it, feature flags included, and without bundles (bundle/ has their tests). */
export const synthesize = (settings: Readonly<Record<string, unknown>> = {}) => {
  const context = { ...cdkJson.context, ...required, ...settings };
  const app = new App({ context, outdir: mkdtempSync(join(workspace, 'app-')) });
  const stack = new CosechaStack(app, readConfig(app.node.getAllContext()), noCode);
  return { app, template: Template.fromStack(stack) };
};

/** The parts of a resource that the tests look at. */
export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

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
