import { CliCredentialsStackSynthesizer, type IStackSynthesizer, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { isRule, parseTriggers } from '#lib/aws/trigger.ts';
import { everyTemplate } from '../../second-opinion/every-template.ts';
import { isAllowed, type Statement } from '../../support/aws/evaluate-policies.ts';
import { embed, newApp } from './embedded.ts';
import {
  everyOption,
  flatten,
  jsonOf,
  propertiesOf,
  type Resource,
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

/** Who may do this with an item of Refusals. The key of a mark is a MAC in hex digits. */
const mayWithMarks = (action: string, key = 'd0c5'.repeat(16), select = 'ALL_ATTRIBUTES') => {
  const context = { 'dynamodb:LeadingKeys': key, 'dynamodb:Select': select };
  // By its ARN, and by its name, of which the policy of viewers has the first part.
  const named =
    'arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/Cosecha-prod-StorageRefusals1';
  const resources = ['<StorageRefusals.Arn>', named];
  return [...roles, ...people].filter((principal) =>
    resources.some((resource) => {
      const request = { principal, action: `dynamodb:${action}`, resource, context };
      return isAllowed(request, { identity: identityOf(principal) }, flatten);
    }),
  );
};

describe('the marks of refused credentials', () => {
  test.each([
    ['GetItem', ['StartTaskRole', 'EraseExtractionsRole', 'admin']],
    ['Scan', ['admin']],
    ['Query', []],
    ['BatchGetItem', []],
    ['PartiQLSelect', []],
    ['ExportTableToPointInTime', []],
  ])('are read by start-task, what erases, and an administrator: %s', (action, expected) => {
    expect(mayWithMarks(action)).toEqual(expected);
  });

  test('show to a viewer which extractions they are of, for `audit`', () => {
    expect(mayWithMarks('Scan', '', 'SPECIFIC_ATTRIBUTES')).toEqual(['viewer', 'admin']);
    const [condition] = statementsOfLevel(template, 'viewer').flatMap(({ Action, Condition }) =>
      [Action].flat().some((one) => flatten(one) === 'dynamodb:Scan') && Condition !== undefined
        ? [Condition]
        : [],
    );
    const { 'dynamodb:Attributes': attributes } = condition?.['ForAllValues:StringEquals'] ?? {};
    expect(attributes).not.toContain('sealed');
    expect(attributes).not.toContain('callbackToken');
  });

  test.each([
    ['PutItem', ['StartTaskRole', 'ReceiveWebhookRole', 'ReconcileExtractionRole']],
    ['UpdateItem', ['EraseExtractionsRole', 'admin']],
    ['BatchWriteItem', []],
    ['DeleteItem', ['EraseExtractionsRole']],
  ])(
    'are written by the three that learn of outcomes, forgotten by an administrator, and erased by one function: %s',
    (action, expected) => {
      expect(mayWithMarks(action).toSorted()).toEqual(expected.toSorted());
    },
  );

  test('stand beside the counts of repeated requests, which are all that request-extraction may write', () => {
    expect(mayWithMarks('UpdateItem', 'repeats/0190')).toEqual([
      'RequestExtractionRole',
      'EraseExtractionsRole',
      'admin',
    ]);
  });
});

test.each(['DeleteObject', 'DeleteObjectVersion'])(
  'results are deleted by one function alone: %s',
  (action) => {
    const request = { action: `s3:${action}`, resource: '<StorageResults.Arn>/one/a.json', context: {} };
    const may = [...roles, ...people].filter((principal) =>
      isAllowed({ principal, ...request }, { identity: identityOf(principal) }, flatten),
    );
    expect(may).toEqual(['EraseExtractionsRole']);
  },
);

describe('with callersMayErase', () => {
  const adding = synthesize({ callersMayErase: 'true' }).template;

  test('what a route asks for is erased by the same function, and no other resource differs', () => {
    const types = (its: Template) =>
      Object.entries(its.toJSON().Resources as Record<string, { Type: string }>);
    const before = new Map(types(template));
    const added = types(adding).filter(([id]) => !before.has(id));
    // These name the function's role and its route.
    const naming = /^(SecretsFingerprintKeyPolicy|ExtractionApiStage)/;
    for (const [id, resource] of types(adding)) {
      if (before.has(id) && !naming.test(id)) expect(resource).toEqual(before.get(id));
    }
    const mine = added.filter(([, { Type }]) => Type === 'AWS::Lambda::Function');
    expect(mine.map(([id]) => id)).toEqual([expect.stringMatching(/^ManageErasures/)]);
    expect(JSON.stringify(template.toJSON())).not.toMatch(/ManageErasures|\/erasures/);
  });

  test.each([
    ['dynamodb:DeleteItem', '<StorageExtractions.Arn>'],
    ['dynamodb:UpdateItem', '<StorageExtractions.Arn>'],
    ['dynamodb:DeleteItem', '<StorageErasures.Arn>'],
    ['s3:DeleteObject', '<StorageResults.Arn>/one/a.json'],
    ['s3:DeleteObjectVersion', '<StorageResults.Arn>/one/a.json'],
  ])('the function of the routes may not %s on %s', (action, resource) => {
    const identity = statementsOfRole(adding, 'ManageErasuresRole');
    expect(identity.length).toBeGreaterThan(3);
    const request = { principal: 'ManageErasuresRole', action, resource, context: {} };
    expect(isAllowed(request, { identity }, flatten)).toBe(false);
  });
});

describe('what invokes functions by itself', () => {
  const { template: every } = synthesize(everyOption);
  const identity = ['viewer', 'operator'].flatMap((level) => statementsOfLevel(every, level));
  const may = (action: string, resource: string, context: Readonly<Record<string, string>> = {}): boolean =>
    isAllowed({ principal: 'operator', action, resource, context }, { identity }, flatten);
  const triggers = parseTriggers(flatten(every.findOutputs('Triggers').Triggers?.Value));
  const arnOf = (id: string): string => id.replace('>', '.Arn>');

  test('may be enabled by an operator, each rule and each mapping', () => {
    expect(triggers).toHaveLength(7);
    const refused = triggers.filter((trigger) =>
      isRule(trigger)
        ? !may('events:EnableRule', arnOf(trigger.rule))
        : !may(
            'lambda:UpdateEventSourceMapping',
            'arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:event-source-mapping:1',
            { 'lambda:FunctionArn': arnOf(trigger.functionName) },
          ),
    );
    expect(refused).toEqual([]);
  });
});

describe('the policies of people', () => {
  // With a bus, which adds a function and its log.
  const eu = synthesize({ stage: 'eu', publishEvents: 'true' }).template;
  const arn = (rest: string): string =>
    `arn:<AWS::Partition>:${rest.replace('::', ':<AWS::Region>:<AWS::AccountId>:')}`;
  const mayInEu = (action: string, resource: string): boolean =>
    people.some((name) =>
      isAllowed({ principal: name, action, resource }, { identity: statementsOfLevel(eu, name) }, flatten),
    );

  test.each([
    ['logs:FilterLogEvents', 'logs::log-group:Cosecha-STAGE-StartTaskLog9A8B7C6D-aBcDeF:*'],
    ['states:RedriveExecution', 'states::execution:Cosecha-STAGE-extractions:0190'],
    ['secretsmanager:DescribeSecret', 'secretsmanager::secret:Cosecha-STAGE/provider-api-key-AbCdEf'],
    ['cloudformation:DescribeStacks', 'cloudformation::stack/Cosecha-STAGE/0190'],
    ['dynamodb:DeleteTable', 'dynamodb::table/Cosecha-STAGE_restored'],
  ])('are of their stage, and of none whose name begins with it: %s', (action, resource) => {
    expect(mayInEu(action, arn(resource.replace('STAGE', 'eu')))).toBe(true);
    expect(mayInEu(action, arn(resource.replace('STAGE', 'eu-prod')))).toBe(false);
  });

  test.each([
    'logs:FilterLogEvents logs::log-group:/aws/vendedlogs/apigateway/Cosecha-eu-prod-api-0190:*',
    'events:EnableRule events::rule/Cosecha-eu-prod-SafetyNetSweep9A8B7C6D-aBcDeF',
  ])('do not reach what AWS names for another stage: %s', (call) => {
    const [action = '', resource = ''] = call.split(' ');
    expect(mayInEu(action, arn(resource))).toBe(false);
  });
});

// A stage is of a-z, 0-9 and "-". What stands before a wildcard must not be how the name of another stage goes on.
test.each(['a', 'a-b', 'a-b-c'])(
  'no policy of the stage %s has a pattern that fits names of another stage',
  (stage) => {
    const its = synthesize({ ...everyOption, stage }).template;
    const policies = Object.values(its.toJSON().Resources as Record<string, Resource>).filter(({ Type }) =>
      /Policy$|KMS::Key$/.test(Type),
    );
    // A UUID is as long as all that can follow, so no other name fits that.
    const named = jsonOf(policies).replaceAll(/-[?]{8}(-[?]{4}){3}-[?]{12}/g, '');
    const patterns = named.matchAll(new RegExp(`Cosecha-${stage}([^"*?]*)[*?]`, 'g'));
    const rests = [...patterns].map(([, rest = '']) => rest);
    expect(rests).toContain('_restored');
    expect(rests.filter((rest) => /^(-[a-z0-9-]*)?$/.test(rest))).toEqual([]);
  },
);

describe('the data key', () => {
  /** With what a deployment puts in place of the last part of the stack's id. */
  const deployed = (value: unknown): string =>
    flatten(value).replace('<AWS::StackId 2>', '0b0a3c5e-8f1d-4e57-9c11-6a2f0d9b7e34');

  /** What CloudWatch Logs may do with the data key of a stack, and the names of its encrypted log groups. */
  const logsOf = (its: Template, stackName: string) => ({
    policy: propertiesOf(its, 'AWS::KMS::Key')
      .flatMap(({ KeyPolicy }) => statementsOf(KeyPolicy))
      .flatMap((statement) => {
        const { Service } = Object(statement.Principal);
        return Service === undefined ? [] : { ...statement, Principal: { AWS: flatten(Service) } };
      }),
    groups: Object.entries(resourcesOf(its, 'AWS::Logs::LogGroup'))
      .filter(([, { Properties }]) => 'KmsKeyId' in Properties)
      .map(([id, { Properties }]) => deployed(Properties.LogGroupName ?? `${stackName}-${id}-aBcDeFgHiJkL`)),
  });

  const mayEncrypt = (policy: readonly Statement[], group: string): boolean =>
    isAllowed(
      {
        principal: 'logs.<AWS::Region>.amazonaws.com',
        action: 'kms:GenerateDataKey',
        resource: 'the key',
        context: {
          'kms:EncryptionContext:aws:logs:arn': `arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:${group}`,
        },
      },
      { identity: [], resource: policy },
      deployed,
    );

  const templates = everyTemplate();

  test.each([
    ['every-option', 'Cosecha-prod', 13],
    ['accept', 'Cosecha-accept', 12],
    ['accept-fake-provider', 'Cosecha-accept-fake-provider', 2],
    ['accept-readers', 'Cosecha-accept-readers', 1],
    ['embedded-twice', 'Banking', 23],
    ['embedded-in-vpc', 'Banking', 11],
  ])('encrypts the log groups of its stack: %s', (name, stackName, count) => {
    const { policy, groups } = logsOf(templates.get(name) as Template, stackName);
    expect(groups).toHaveLength(count);
    expect(groups.filter((group) => !mayEncrypt(policy, group))).toEqual([]);
  });

  test('encrypts none of a stage whose name begins with that of its own', () => {
    const [eu, euProd] = ['eu', 'eu-prod'].map((stage) =>
      logsOf(synthesize({ stage, publishEvents: 'true' }).template, `Cosecha-${stage}`),
    );
    expect(euProd?.groups.filter((group) => mayEncrypt(eu?.policy ?? [], group))).toEqual([]);
  });
});

describe('the fingerprint key', () => {
  const policies = propertiesOf(template, 'AWS::SecretsManager::ResourcePolicy');
  const own = statementsOf(policies[0]?.ResourcePolicy);
  const deployment =
    'arn:<AWS::Partition>:iam::<AWS::AccountId>:role/cdk-hnb659fds-cfn-exec-role-<AWS::AccountId>-<AWS::Region>';
  const may = (
    action: string,
    principal: string,
    identity: readonly Statement[],
    resource = own,
    context: Readonly<Record<string, string>> = {},
  ): boolean =>
    isAllowed(
      {
        principal,
        action: `secretsmanager:${action}`,
        resource:
          'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Cosecha-prod/fingerprint-key-AbCdEf',
        context,
      },
      { identity, resource },
      flatten,
    );
  const administrator = 'arn:aws:iam::111122223333:role/Administrator';

  test('is read by the functions that use it, and by nobody else', () => {
    expect(policies).toHaveLength(1);
    expect(flatten(policies[0]?.SecretId)).toBe('<SecretsFingerprintKey>');
    const reads = (name: string) => may('GetSecretValue', `<${name}.Arn>`, identityOf(name));
    expect([...roles, ...people].filter(reads)).toEqual(['RequestExtractionRole', 'StartTaskRole']);
  });

  test.each(['GetSecretValue', 'PutSecretValue', 'UpdateSecret', 'UpdateSecretVersionStage', 'DeleteSecret'])(
    'is denied to an administrator, whom only the policy of the secret stops: %s',
    (action) => {
      expect(may(action, administrator, everything, [])).toBe(true);
      expect(may(action, administrator, everything)).toBe(false);
      // As in another function that was given the role.
      expect(may(action, '<GetExtractionRole.Arn>', everything)).toBe(false);
    },
  );

  test.each(['PutSecretValue', 'UpdateSecret', 'UpdateSecretVersionStage', 'DeleteSecret'])(
    'is not replaced by the policies of people, nor by the functions that read it: %s',
    (action) => {
      const mayChange = people.filter((name) => may(action, `role/${name}`, identityOf(name), []));
      expect(mayChange).toEqual([]);
      expect(may(action, '<RequestExtractionRole.Arn>', everything)).toBe(false);
    },
  );

  // The handlers of its type, for which a new tag is enough: read, update and delete.
  test.each(['GetSecretValue', 'UpdateSecret', 'DeleteSecret'])(
    'is open to the role that CloudFormation deploys with: %s',
    (action) => {
      expect(may(action, deployment, everything)).toBe(true);
    },
  );

  test('of a stack that CloudFormation deploys with the credentials of a person is open to that call alone', () => {
    const synthesizer: object = new CliCredentialsStackSynthesizer();
    const stack = new Stack(newApp(), 'Own', { synthesizer: synthesizer as IStackSynthesizer });
    embed(stack, 'Bank');
    const [policy] = propertiesOf(Template.fromStack(stack), 'AWS::SecretsManager::ResourcePolicy');
    const its = statementsOf(policy?.ResourcePolicy);
    const calledVia = { 'aws:CalledVia': 'cloudformation.amazonaws.com' };
    expect(may('UpdateSecret', administrator, everything, its, calledVia)).toBe(true);
    expect(may('UpdateSecret', administrator, everything, its)).toBe(false);
    expect(may('PutSecretValue', administrator, everything, its, calledVia)).toBe(false);
  });
});
