import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import type { Statement } from '../../support/aws/evaluate-policies.ts';
import { withWhatTheAccountHas } from './embedded.ts';
import {
  flatten,
  jsonOf,
  propertiesOf,
  type Resource,
  resourcesOf,
  statementsOf,
  synthesize,
} from './synth.ts';

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

const textOf = (value: unknown): string =>
  jsonOf(value)
    .replaceAll('"', '')
    .replace(/arn:<AWS::Partition>:([\w-]+):<AWS::Region>:<AWS::AccountId>:/g, '$1 ')
    .replace(/\{StringEquals:\{kms:ViaService:(\w+)[^}]*\}\}/, 'through $1');

/** One line: on what or for whom, which actions, and under which condition. */
const lineOf = ({ Effect, Action, Resource, Principal, Condition }: Statement): string =>
  [
    Effect === 'Allow' ? ' ' : '  DENY',
    ...(Principal === undefined ? list(Resource) : Object.values(Principal as object)).map(textOf),
    '←',
    ...list(Action),
    ...(Condition === undefined ? [] : [`if ${textOf(Condition)}`]),
  ].join(' ');

const policyOf = (name: string, document: unknown): string =>
  [name, ...statementsOf(document).map(lineOf)].join('\n');

/** The policies of each resource of a type, from this property, under what names it. */
const policiesOf =
  (type: string, property: string, nameOf: (properties: Resource['Properties']) => string) =>
  (template: Template): readonly string[] =>
    propertiesOf(template, type).map((properties) => policyOf(nameOf(properties), properties[property]));

const keysOf = policiesOf('AWS::KMS::Key', 'KeyPolicy', ({ Description }) => String(Description));
const secretsOf = policiesOf('AWS::SecretsManager::ResourcePolicy', 'ResourcePolicy', ({ SecretId }) =>
  textOf(SecretId),
);
const rolesOf = policiesOf('AWS::IAM::Policy', 'PolicyDocument', ({ Roles }) => textOf(Roles));
const peopleOf = policiesOf('AWS::IAM::ManagedPolicy', 'PolicyDocument', ({ ManagedPolicyName }) =>
  flatten(ManagedPolicyName),
);

test('the policies are those that a reviewer has read', async () => {
  const { template } = synthesize();
  // A managed policy of a role would be among its other properties.
  const trust = propertiesOf(template, 'AWS::IAM::Role').map(({ AssumeRolePolicyDocument, ...others }) =>
    policyOf(`a role, ${textOf(others)}`, AssumeRolePolicyDocument),
  );
  const all = [
    ...rolesOf(template),
    ...keysOf(template),
    ...secretsOf(template),
    ...peopleOf(template),
    ...new Set(trust),
  ];
  // Too long to be read, it would be accepted unread.
  expect(all.join('\n').split('\n').length).toBeLessThanOrEqual(150);
  await expect(`${all.join('\n')}\n`).toMatchFileSnapshot('permissions.txt');
});

test('on the emulator, tokens are answered on any resource, and the seal key has no conditions', () => {
  const { template } = synthesize({ stage: 'local' });
  const anywhere = rolesOf(template).filter((policy) => /^ {2}\* .*← states:SendTask/m.test(policy));
  expect(anywhere.map((policy) => policy.split('\n')[0])).toEqual([
    '[<StartDispatcherRole>]',
    '[<StartTaskRole>]',
    '[<ReceiveWebhookRole>]',
    '[<ReconcileExtractionRole>]',
    '[<EraseExtractionsRole>]',
  ]);
  expect(rolesOf(template).filter((policy) => policy.includes('DENY'))).toEqual([]);
  expect(keysOf(template).find((policy) => policy.includes('seals'))).not.toContain(' if ');
});

test.each([
  ['', synthesize],
  [', also if its app has the data key', withWhatTheAccountHas],
])('the seal key is created after the policies of the roles that it names%s', (_, its) => {
  const { template } = its();
  const key = Object.values(resourcesOf(template, 'AWS::KMS::Key')).find(({ Properties }) =>
    String(Properties.Description).includes('seals'),
  );
  for (const role of ['RequestExtraction', 'StartTask', 'ReconcileExtraction']) {
    expect((key as Resource & { readonly DependsOn: readonly string[] }).DependsOn).toContainEqual(
      expect.stringMatching(`${role}RoleDefaultPolicy[0-9A-F]{8}$`),
    );
  }
});

/**
 * The longest region and ARNs: a key's id has 36 characters, and the name of a bucket 63, of a function, role or rule 64, of a queue 80. A
 * stack's name of 30 gives all others at most 150.
 */
const maxLengths: readonly (readonly [RegExp | string, number])[] = [
  [/<(DataKey|SealKey|StorageResults)\.Arn>/g, 80],
  [/<\w+(Function|Role|Sweep|Dispatch|ExecutionBroken)\.Arn>/g, 116],
  [/<\w+(Queue|QueueSlow|DeadLetters)\.Arn>/g, 120],
  [/<\w+\.(Stream)?Arn>|<ExtractionMachine\w*>/g, 150],
  ['<AWS::Partition>', 3],
  ['<AWS::Region>', 14],
  ['<AWS::AccountId>', 12],
];

test('the policies of people fit a managed policy, with names as long as they get', () => {
  const { template } = synthesize({ publishEvents: 'true' });
  for (const { PolicyDocument } of propertiesOf(template, 'AWS::IAM::ManagedPolicy')) {
    const deployed = maxLengths.reduce(
      (text, [reference, length]) => text.replaceAll(reference, 'x'.repeat(length)),
      jsonOf(PolicyDocument),
    );
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    expect(deployed.length).toBeLessThan(6_144);
  }
});
