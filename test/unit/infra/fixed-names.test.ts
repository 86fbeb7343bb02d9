import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { everyTemplate } from '../../second-opinion/every-template.ts';
import type { Resource } from './synth.ts';

/** The property with the name of a resource, where it is neither `Name` nor that of the type with `Name` behind it. */
const otherwise: Readonly<Record<string, string>> = {
  CompositeAlarm: 'AlarmName',
  DomainName: 'DomainName',
  SecurityGroup: 'GroupName',
};

/** These are named within another resource. */
const within = ['AWS::ApiGatewayV2::Stage', 'AWS::IAM::Policy'];

type Written = {
  readonly Resources: Readonly<Record<string, Partial<Resource> & Pick<Resource, 'Type'>>>;
  readonly Outputs?: Readonly<Record<string, { readonly Export?: { readonly Name: unknown } }>>;
};

/** Every name that a template fixes in its account and region, with its kind. `stack` is in place of what only that stack has. */
const fixedNames = (stack: string, template: Template): readonly string[] => {
  const { Resources, Outputs = {} } = template.toJSON() as Written;
  const named = Object.values(Resources).flatMap(({ Type, Properties = {} }) => {
    const short = Type.split('::').at(-1) ?? '';
    const [property] = ['Name', `${short}Name`, otherwise[short] ?? ''].filter((one) => one in Properties);
    if (property === undefined || within.includes(Type)) return [];
    return [`${property === 'Name' ? Type : property} ${JSON.stringify(Properties[property])}`];
  });
  const exported = Object.values(Outputs).flatMap(({ Export }) =>
    Export === undefined ? [] : [`export ${JSON.stringify(Export.Name)}`],
  );
  return [...named, ...exported].map((one) => one.replaceAll('AWS::StackId', stack));
};

const templates = everyTemplate();

/** What one account may have: the stage of a deployment is there once, as such or in another stack. */
const inOneAccount = [
  ['every-option', 'accept', 'accept-fake-provider', 'accept-readers', 'local', 'example-consumer'],
  ['embedded-twice', 'accept', 'accept-fake-provider', 'accept-readers', 'local', 'example-consumer'],
];

// CloudFormation refuses a name that is taken, and cfn-lint sees one template at a time.
test.each(inOneAccount)('no name is fixed twice in an account with %s and %s', (...stacks) => {
  const names = stacks.flatMap((stack) => fixedNames(stack, templates.get(stack) as Template));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  // Some 50 of them are alarms.
  expect(new Set(names.map((name) => name.split(' ')[0])).size).toBeGreaterThan(10);
});
