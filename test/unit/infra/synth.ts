import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CosechaStack } from '../../../infra/cosecha-stack.ts';
import { type FunctionCode, functionNames } from '../../../infra/lambda/contracts.ts';
import { readConfig } from '../../../infra/settings/config.ts';
import { isWindow } from '../../../tools/cli/aws/read-alarms.ts';
import type { Statement } from '../../support/aws/evaluate-policies.ts';

const cdkJson: { readonly context: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'),
);

/**
 * Makes an app with the feature flags of cdk.json and without bundles, which bundle/ tests. The template only names the
 * directory of a bundle, so an empty directory suffices.
 */
export const withApp = <Result>(
  settings: Readonly<Record<string, unknown>>,
  use: (app: App, emptyDirectory: string) => Result,
): Result => {
  const outdir = mkdtempSync(join(tmpdir(), 'cosecha-synth-'));
  try {
    const nothing = mkdtempSync(join(outdir, 'nothing-'));
    return use(new App({ context: { ...cdkJson.context, ...settings }, outdir }), nothing);
  } finally {
    rmSync(outdir, { recursive: true });
  }
};

const synthesizeNow = (settings: Readonly<Record<string, unknown>>) =>
  withApp({ ...required, ...settings }, (app, nothing) => {
    const code = Object.fromEntries(functionNames.map((name) => [name, nothing])) as FunctionCode;
    return {
      app,
      template: Template.fromStack(new CosechaStack(app, readConfig(app.node.getAllContext()), code)),
    };
  });

const synthesized = new Map<string, ReturnType<typeof synthesizeNow>>();

/** The app with these settings. It is cached, as a synthesis takes a second and many tests need the defaults. */
export const synthesize = (settings: Readonly<Record<string, unknown>> = {}) => {
  const key = JSON.stringify(settings);
  const known = synthesized.get(key) ?? synthesizeNow(settings);
  synthesized.set(key, known);
  return known;
};

/** The settings of a deployment with everything that a setting adds. */
export const everyOption = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
  disableDefaultEndpoint: 'true',
  readers: 'arn:aws:iam::111122223333:role/reader',
  providerClientId: '00000000-0000-4000-8000-000000000001',
  widgetConfigId: 'Widget',
  encryptRawCredentials: 'true',
  webhookReservedConcurrency: 5,
  requestReservedConcurrency: 20,
  startReservedConcurrency: 50,
  reconcileReservedConcurrency: 100,
  alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
  watchedEntities: 'demo-bank',
  publishEvents: 'true',
  callersMayErase: 'true',
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

/** The properties of every resource of a type. */
export const propertiesOf = (template: Template, type: string): readonly Resource['Properties'][] =>
  Object.values(resourcesOf(template, type)).map(({ Properties }) => Properties);

export const statementsOf = (document: unknown): readonly Statement[] =>
  (document as { readonly Statement: readonly Statement[] }).Statement;

/** What the policies of the roles say whose logical ids start so. */
export const statementsOfRole = (template: Template, role: string): readonly Statement[] =>
  propertiesOf(template, 'AWS::IAM::Policy')
    .filter(({ Roles }) => JSON.stringify(Roles).includes(`{"Ref":"${role}`))
    .flatMap(({ PolicyDocument }) => statementsOf(PolicyDocument));

/** What the managed policy says that is for a viewer, an operator or an admin. */
export const statementsOfLevel = (template: Template, level: string): readonly Statement[] =>
  propertiesOf(template, 'AWS::IAM::ManagedPolicy')
    .filter(({ ManagedPolicyName }) => flatten(ManagedPolicyName).endsWith(`-${level}`))
    .flatMap(({ PolicyDocument }) => statementsOf(PolicyDocument));

/** The alarms that notify somebody: all but the windows of composite alarms. */
export const notifyingAlarms = (template: Template): readonly Resource['Properties'][] =>
  ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm']
    .flatMap((type) => propertiesOf(template, type))
    .filter(({ AlarmName }) => !isWindow(String(AlarmName)));

/** An ARN, a name or a policy as one text: intrinsics become `<LogicalId>` and `<LogicalId.Attribute>`. */
export const flatten = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(flatten).join('');
  const [[intrinsic, argument] = ['', undefined]] = Object.entries(value as object);
  if (intrinsic === 'Ref') return `<${shortName(String(argument))}>`;
  if (intrinsic === 'Fn::GetAtt' && Array.isArray(argument)) {
    return `<${shortName(String(argument[0]))}.${String(argument[1])}>`;
  }
  if (intrinsic === 'Fn::Sub') return String(argument).replace(/\$\{([^}]+)\}/g, '<$1>');
  if (intrinsic === 'Fn::Select' && Array.isArray(argument)) {
    const [text] = (argument[1] as { readonly 'Fn::Split': readonly unknown[] })['Fn::Split'].slice(1);
    return flatten(text).replace('>', ` ${String(argument[0])}>`);
  }
  if (intrinsic === 'Fn::Join' && Array.isArray(argument)) return flatten(argument[1]);
  throw new Error(`Cannot flatten ${JSON.stringify(value)}`);
};

/** Any part of a template as JSON, with its references as in `flatten`. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    /^(Ref|Fn::)/.test(Object.keys(Object(part))[0] ?? '') ? flatten(part) : part,
  );

/** They have tables and tests of their own, or are but parts of others. */
const describedElsewhere =
  /^AWS::(IAM|CloudWatch|CDK|SSM|Lambda::Permission|SecretsManager::ResourcePolicy|ApiGatewayV2::(Integration|Route))/;

/** What CDK makes of the whole, or another test reads. */
const leftOut = [
  'Code',
  'Role',
  'Tags',
  'KeyPolicy',
  'DefinitionString',
  'Environment',
  'PolicyDocument',
  'LoggingConfig',
];

/** A line for each resource: what becomes of it with its stack, and its properties. */
export const describeResources = (template: Template): string =>
  Object.entries(template.toJSON().Resources as Record<string, Resource>)
    .filter(([, { Type }]) => !describedElsewhere.test(Type))
    .map(([id, { Type, Properties = {}, DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' }]) => {
      const shown = Object.entries(Properties).filter(([name]) => !leftOut.includes(name));
      const properties = jsonOf(Object.fromEntries(shown)).replace(/[\\"]/g, '');
      return `${shortName(id)} ${Type}, ${DeletionPolicy}, ${UpdateReplacePolicy}: ${properties}\n`;
    })
    .join('');

export type DeployedFunction = {
  /** The logical id without its suffix and `Function`, such as `StartTask`. */
  readonly id: string;
  readonly properties: Resource['Properties'];
  readonly variables: Readonly<Record<string, string>>;
};

/** The functions by their names, such as `start-task`. */
export const functionsOf = (template: Template): ReadonlyMap<string, DeployedFunction> =>
  new Map(
    Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).map(([id, { Properties: properties }]) => {
      const { Variables } = properties.Environment as { readonly Variables: object };
      const variables: Record<string, string> = Object.fromEntries(
        Object.entries(Variables).map(([name, value]) => [name, flatten(value)]),
      );
      const name = variables.POWERTOOLS_SERVICE_NAME ?? '';
      return [name, { id: shortName(id).replace(/Function$/, ''), properties, variables }];
    }),
  );

/** A logical id without the eight hexadecimal digits that CDK appends. */
const shortName = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

/** The settings that every deployment needs. */
export const required = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
