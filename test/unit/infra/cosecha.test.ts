import { Match } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { Cosecha } from '../../../infra/cosecha.ts';
import { newStack, twoInOneStack, withWhatTheAccountHas } from './embedded.ts';
import { flatten, resourcesOf } from './synth.ts';

/** The AWS Solutions rules that a deployment breaks without a reason. */
const violationsOf = (deployment: Cosecha) =>
  new AwsSolutionsChecks(deployment).validateScope(deployment).violations;

describe('two deployments in one stack', () => {
  const { bank, trial, template } = twoInOneStack();

  test('have names and outputs of their own', () => {
    const secrets = Object.values(resourcesOf(template, 'AWS::SecretsManager::Secret'));
    expect(secrets.map(({ Properties }) => Properties.Name).sort()).toEqual([
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
  });

  test('break none of the AWS Solutions rules', () => {
    expect([bank, trial].flatMap(violationsOf)).toEqual([]);
  });

  const allowed = (role: string): unknown[] =>
    Object.values(resourcesOf(template, 'AWS::IAM::Policy'))
      .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}`))
      .flatMap(({ Properties }) => (Properties.PolicyDocument as { Statement: object[] }).Statement)
      .map((statement) => {
        const { Action, Resource } = statement as { Action: unknown; Resource: unknown };
        return [Action, [Resource].flat().map((resource) => flatten(resource))];
      });

  test('a caller may request and read extractions, and nothing else', () => {
    const route =
      'arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<BankExtractionApi>/$default';
    expect(allowed('Caller')).toEqual([
      ['execute-api:Invoke', [`${route}/POST/extractions`, `${route}/GET/extractions/*`]],
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
    const mappings = resourcesOf(template, 'AWS::Lambda::EventSourceMapping');
    const sources = Object.values(mappings).map(({ Properties }) => flatten(Properties.EventSourceArn));
    expect(sources).toContain('<BankStorageExtractions.StreamArn>');
    expect(Object.keys(template.findParameters('*'))).toEqual(['BootstrapVersion']);
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

  test('notifies the given topic of every alarm', () => {
    template.allResourcesProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [{ Ref: Match.stringLikeRegexp('^OnCall') }],
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
    const functions = Object.values(resourcesOf(template, 'AWS::Lambda::Function'));
    const inside = functions.filter(({ Properties }) => Properties.VpcConfig !== undefined);
    const names = inside.map(({ Properties }) => String(Properties.Description).replace(/.*: /, ''));
    expect(names.sort()).toEqual(['manage-consents', 'reconcile-extraction', 'start-task']);
  });

  test('breaks none of the AWS Solutions rules', () => {
    expect(violationsOf(bank)).toEqual([]);
  });
});

test('settings that contradict each other are refused', () => {
  const props = { stage: 'prod', providerBaseUrl: 'http://provider.example' };
  expect(() => new Cosecha(newStack(), 'Bank', props)).toThrow(
    'Setting providerBaseUrl must be an https address: only a stage for an emulator, local or local-…, may send credentials in the clear.',
  );
});

test('without the bundles of the package, the error names how to build it', () => {
  const props = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
  expect(() => new Cosecha(newStack(), 'Bank', props)).toThrow('npm run package');
});
