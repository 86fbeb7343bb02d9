import { CfnParameter, NestedStack, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Construct } from 'constructs';
import { describe, expect, test } from 'vitest';
import { Cosecha } from '../../../infra/cosecha.ts';
import { prebuiltFunctions } from '../../../infra/lambda/prebuilt-functions.ts';
import { embed, newApp, newStack, twoInOneStack, withWhatTheAccountHas } from './embedded.ts';
import { flatten, functionsOf, propertiesOf, required, resourcesOf, statementsOfRole } from './synth.ts';

/** The AWS Solutions rules that a deployment breaks without a reason. */
const violationsOf = (deployment: Cosecha) =>
  new AwsSolutionsChecks(deployment).validateScope(deployment).violations;

describe('two deployments in one stack', () => {
  const { bank, trial, template } = twoInOneStack();

  test('have names and outputs of their own', () => {
    const secrets = propertiesOf(template, 'AWS::SecretsManager::Secret');
    expect(secrets.map(({ Name }) => Name).sort()).toEqual([
      'Cosecha-prod/fingerprint-key',
      'Cosecha-prod/provider-api-key',
      'Cosecha-prod/webhook-signing-key',
      'Cosecha-trial/fingerprint-key',
      'Cosecha-trial/provider-api-key',
      'Cosecha-trial/webhook-signing-key',
    ]);
    expect(Object.keys(template.findOutputs('*'))).toEqual(
      expect.arrayContaining(['BankApiUrl', 'BankWebhookUrl', 'TrialApiUrl', 'TrialWebhookUrl']),
    );
    const { Value } = template.findOutputs('BankFillProviderApiKey').BankFillProviderApiKey ?? {};
    expect(flatten(Value)).toContain('--stack Banking/Bank --region');
  });

  test('break none of the AWS Solutions rules', () => {
    expect([bank, trial].flatMap(violationsOf)).toEqual([]);
  });

  const allowed = (role: string): unknown[] =>
    statementsOfRole(template, role).map(({ Action, Resource }) => [
      Action,
      [Resource].flat().map((resource) => flatten(resource)),
    ]);

  test('a caller may request and read extractions, and nothing else', () => {
    const route =
      'arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<BankExtractionApi>/$default';
    expect(allowed('Caller')).toEqual([
      [
        'execute-api:Invoke',
        [`${route}/POST/extractions`, `${route}/GET/extractions`, `${route}/GET/extractions/*`],
      ],
    ]);
  });

  test('a reader may read the stream and the results, and use their key', () => {
    expect(allowed('Reader')).toEqual([
      [
        [
          'dynamodb:DescribeStream',
          'dynamodb:GetRecords',
          'dynamodb:GetShardIterator',
          'dynamodb:ListStreams',
        ],
        ['<BankStorageExtractions.StreamArn>'],
      ],
      [['kms:Decrypt', 'kms:DescribeKey'], ['<BankDataKey.Arn>']],
      ['s3:GetObject', ['<BankStorageResults.Arn>/*']],
      ['kms:Decrypt', ['<BankDataKey.Arn>']],
    ]);
  });

  test('a consumer in the same stack refers to the stream itself', () => {
    const mappings = propertiesOf(template, 'AWS::Lambda::EventSourceMapping');
    expect(mappings.map(({ EventSourceArn }) => flatten(EventSourceArn))).toContain(
      '<BankStorageExtractions.StreamArn>',
    );
    expect(Object.keys(template.findParameters('*'))).toEqual(['BootstrapVersion']);
  });
});

test.each([
  ['https://provider.example', 'prod', 1],
  ['https://api.provider.cl', 'prod', 0],
  ['https://provider.example', 'local-bank', 0],
])('with %s in the stage %s, %d rules stop a deployment, and none the synthesis', (url, stage, count) => {
  const stack = newStack();
  embed(stack, 'Bank', { stage, providerBaseUrl: url });
  const { CheckBootstrapVersion: _, ...rules } = Template.fromStack(stack).toJSON().Rules;
  const assertion = {
    Assert: { 'Fn::Equals': [url, expect.any(String)] },
    AssertDescription: expect.any(String),
  };
  expect(Object.values(rules)).toEqual(Array.from({ length: count }, () => ({ Assertions: [assertion] })));
});

describe('the ids of a construct', () => {
  const outputsOf = (stack: Stack): readonly string[] =>
    Object.keys(Template.fromStack(stack).findOutputs('*'));

  test.each(['bank-data', 'Bank_Data', '1bank'])('may be any that CDK takes: %s', (id) => {
    const stack = newStack();
    embed(stack, id);
    const names = outputsOf(stack);
    expect(names).toContain(`${id.replace(/[-_]/, '')}ApiUrl`);
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9]+$/);
  });

  test('may be the same in two constructs, and outputs begin as the logical ids of resources do', () => {
    const stack = newStack();
    embed(new Construct(stack, 'North'), 'Bank');
    embed(new Construct(stack, 'SouthBank'), 'Bank', { stage: 'south' });
    const template = Template.fromStack(stack);
    for (const prefix of ['NorthBank', 'SouthBank']) {
      expect(outputsOf(stack)).toContain(`${prefix}ApiUrl`);
      expect(Object.keys(resourcesOf(template, 'AWS::Lambda::Function'))).toContainEqual(
        expect.stringMatching(new RegExp(`^${prefix}StartTaskFunction`)),
      );
    }
  });

  test('are refused that differ in nothing but other characters', () => {
    const stack = newStack();
    embed(stack, 'bank-data');
    expect(() => embed(stack, 'bankdata', { stage: 'trial' })).toThrow('give one another id');
  });
});

describe('a deployment with what the account already has', () => {
  const { bank, template } = withWhatTheAccountHas();

  test('encrypts its data under the given key, which CloudWatch Logs may use', () => {
    expect(Object.keys(resourcesOf(template, 'AWS::KMS::Key')).map((id) => id.slice(0, -8))).toEqual([
      'OwnKey',
      'BankSealKey',
    ]);
    template.allResourcesProperties('AWS::Logs::LogGroup', {
      KmsKeyId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^OwnKey'), 'Arn'] },
    });
    template.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([Match.objectLike({ Action: Match.arrayWith(['kms:GenerateDataKey*']) })]),
      },
    });
  });

  test('bounds every role of Cosecha', () => {
    const roles = Object.entries(resourcesOf(template, 'AWS::IAM::Role')).filter(([id]) =>
      id.startsWith('Bank'),
    );
    expect(roles.length).toBeGreaterThan(7);
    const unbounded = roles.filter(([, { Properties }]) => Properties.PermissionsBoundary === undefined);
    expect(unbounded).toEqual([]);
  });

  test('runs what calls the provider in the network, and nothing else', () => {
    const functions = [...functionsOf(template)];
    const inside = functions.filter(([, { properties }]) => properties.VpcConfig !== undefined);
    const names = inside.map(([name]) => name).sort();
    expect(names).toEqual(['manage-consents', 'reconcile-extraction', 'start-task']);
  });

  test('breaks none of the AWS Solutions rules', () => {
    expect(violationsOf(bank)).toEqual([]);
  });
});

test('what only the deployment knows is taken where a setting has a form', () => {
  const stack = newStack();
  const parameter = (id: string): string => new CfnParameter(stack, id).valueAsString;
  embed(stack, 'Bank', {
    providerClientId: parameter('Client'),
    domainName: parameter('Domain'),
    certificateArn: parameter('Certificate'),
  });
  const { Description } =
    Template.fromStack(stack).findOutputs('BankCustomDomainTarget').BankCustomDomainTarget ?? {};
  expect(Description).toMatch(/^Point the domain here/);
});

test('as many readers as are taken fit the environment of a function', () => {
  const stack = newStack();
  const readers = Array.from(
    { length: 52 },
    (_, index) => `arn:aws:iam::111122223333:role/reader-of-everything-${index}`,
  );
  embed(stack, 'Bank', { readers });
  const { variables } = functionsOf(Template.fromStack(stack)).get('get-extraction') ?? {};
  expect(
    Object.entries(variables ?? {})
      .flat()
      .join('').length,
  ).toBeLessThan(4_096);
  expect(variables?.READERS).toHaveLength(JSON.stringify(readers).length);
});

test('a stage is refused twice in one stack, and taken once in each of two', () => {
  const stack = newStack();
  embed(stack, 'Bank');
  expect(() => embed(stack, 'Trial')).toThrow(
    'The stage "prod" is already in this stack, as Banking/Bank: its secrets, alarms and parameters would have the same names.',
  );
  embed(new Stack(stack.node.root, 'Other'), 'Bank');
});

test('a nested stack is refused with a sentence, whatever stack it is in', () => {
  const nested = new NestedStack(newStack(), 'Nested');
  expect(() => embed(nested, 'Bank')).toThrow(
    'Banking/Nested is a NestedStack, in which Cosecha cannot be: give it a Stack of its own.',
  );
});

test('an app that is bundled gets the option that leaves the package out', () => {
  expect(() => prebuiltFunctions('/nowhere')).toThrow(/esbuild --external:@cosecha\/cosecha/);
});

test('a topic of another region is refused, whether it is imported or of the same app', () => {
  const app = newApp();
  const [here, there] = ['eu-west-1', 'us-east-1'].map(
    (region) => new Stack(app, region, { env: { region } }),
  );
  const arn = 'arn:aws:sns:us-east-1:111122223333:on-call';
  const sentence = 'is in us-east-1, but the stack goes to eu-west-1: it must be in the same region.';
  const topics = [Topic.fromTopicArn(here as Stack, 'Imported', arn), new Topic(there as Stack, 'OnCall')];
  for (const [index, alarmTopic] of topics.entries()) {
    expect(() => embed(here as Stack, `Bank${index}`, { alarmTopic })).toThrow(`alarmTopic ${sentence}`);
  }
  expect(() => embed(here as Stack, 'Bank', { alarmTopicArn: arn })).toThrow(
    `Setting alarmTopicArn ${sentence}`,
  );
  // Of a stack that is bound to no region, nothing is known.
  embed(here as Stack, 'Unknown', { alarmTopic: new Topic(new Stack(app, 'Anywhere'), 'OnCall') });
});

test('two topics, and no props at all, are refused with a sentence', () => {
  const stack = newStack();
  const props = {
    ...required,
    alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
    alarmTopic: new Topic(stack, 'OnCall'),
  };
  expect(() => new Cosecha(stack, 'Bank', props)).toThrow('alarmTopic and alarmTopicArn both name a topic');
  // As from JavaScript.
  expect(() => new Cosecha(stack, 'Other', undefined as never)).toThrow('Setting stage is required');
});

test('without the bundles of the package, the error names how to build it', () => {
  expect(() => new Cosecha(newStack(), 'Bank', required)).toThrow('npm run package');
});
