import { describe, expect, test } from 'vitest';
import { isAllowed, type Statement } from '../../support/aws/evaluate-policies.ts';
import {
  flatten,
  propertiesOf,
  resourcesOf,
  statementsOf,
  statementsOfLevel,
  statementsOfRole,
  synthesize,
} from './synth.ts';

const { template } = synthesize();

const roles = Object.keys(resourcesOf(template, 'AWS::IAM::Role')).map((id) =>
  id.replace(/[0-9A-F]{8}$/, ''),
);

/** What a role or a person may do. */
const identityOf = (name: string): readonly Statement[] => [
  ...statementsOfRole(template, name),
  ...statementsOfLevel(template, name),
];

const people = ['viewer', 'operator', 'admin'];
const everything: readonly Statement[] = [{ Effect: 'Allow', Action: '*', Resource: '*' }];

/** Who may do this with the items of Refusals, and with nothing narrower than the table. */
const mayWithMarks = (action: string): readonly string[] =>
  [...roles, ...people].filter((name) =>
    isAllowed(
      { principal: name, action: `dynamodb:${action}`, resource: '<StorageRefusals.Arn>' },
      { identity: identityOf(name) },
      flatten,
    ),
  );

describe('the marks of refused credentials', () => {
  test.each([
    ['GetItem', ['StartTaskRole', 'admin']],
    ['Scan', ['admin']],
    ['Query', []],
    ['BatchGetItem', []],
    ['PartiQLSelect', []],
    ['ExportTableToPointInTime', []],
  ])('are read by start-task, and by an administrator who erases: %s', (action, expected) => {
    expect(mayWithMarks(action)).toEqual(expected);
  });

  test.each([
    ['PutItem', ['StartTaskRole', 'ReceiveWebhookRole', 'ReconcileExtractionRole']],
    ['UpdateItem', ['admin']],
    ['BatchWriteItem', []],
    ['DeleteItem', ['admin']],
  ])(
    'are written by the three that learn of outcomes, and forgotten and erased by an administrator: %s',
    (action, expected) => {
      expect(mayWithMarks(action).toSorted()).toEqual(expected.toSorted());
    },
  );
});

describe('the fingerprint key', () => {
  const policies = propertiesOf(template, 'AWS::SecretsManager::ResourcePolicy');
  const [policy] = policies;
  const reads = (name: string, identity: readonly Statement[], resource = true): boolean =>
    isAllowed(
      {
        principal: name.endsWith('Role') ? `<${name}.Arn>` : `arn:aws:iam::111122223333:role/${name}`,
        action: 'secretsmanager:GetSecretValue',
        resource:
          'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Cosecha-prod/fingerprint-key-AbCdEf',
      },
      { identity, resource: resource ? statementsOf(policy?.ResourcePolicy) : [] },
      flatten,
    );

  test('is read by the functions that use it, and by nobody else', () => {
    expect(policies).toHaveLength(1);
    expect(flatten(policy?.SecretId)).toBe('<SecretsFingerprintKey>');
    expect([...roles, ...people].filter((name) => reads(name, identityOf(name)))).toEqual([
      'RequestExtractionRole',
      'StartTaskRole',
    ]);
  });

  test('is denied to an administrator, whom only the policy of the secret stops', () => {
    expect(reads('Administrator', everything, false)).toBe(true);
    expect(reads('Administrator', everything)).toBe(false);
    // As in another function that was given the role.
    expect(reads('GetExtractionRole', everything)).toBe(false);
  });
});
