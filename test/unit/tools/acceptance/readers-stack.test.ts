import { Match } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { flatten, resourcesOf } from '../../infra/synth.ts';
import { synthesizeStage } from './synth.ts';

const { cosecha, fakeProvider, readers } = synthesizeStage({ stage: 'accept', fanOutToEventBus: 'true' });

test('another caller may read extractions, and nothing else', () => {
  const [id] = Object.keys(resourcesOf(readers, 'AWS::IAM::Role')).filter((role) =>
    role.startsWith('Stranger'),
  );
  const policies = Object.values(resourcesOf(readers, 'AWS::IAM::Policy')).filter(
    ({ Properties }) => JSON.stringify(Properties.Roles) === JSON.stringify([{ Ref: id }]),
  );
  const statements = policies.flatMap(
    ({ Properties }) =>
      (Properties.PolicyDocument as { Statement: { Action: string; Resource: unknown }[] }).Statement,
  );
  expect(statements.map(({ Action, Resource }) => `${Action} ${flatten(Resource)}`)).toEqual([
    'execute-api:Invoke arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:*/$default/GET/extractions/*',
  ]);
});

test('a rule of the bus and every alarm of the stage reach a queue', () => {
  readers.hasResourceProperties('AWS::Events::Rule', {
    EventBusName: 'Cosecha-accept-extractions',
    EventPattern: { source: ['cosecha'] },
    Targets: [{ Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^FanOutInbox'), 'Arn'] } }],
  });
  cosecha.allResourcesProperties('AWS::CloudWatch::Alarm', {
    AlarmActions: [{ 'Fn::ImportValue': Match.stringLikeRegexp('^Cosecha-accept-fake-provider:') }],
  });
  fakeProvider.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'sqs' });
  fakeProvider.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Action: 'sns:Publish',
        }),
      ]),
    },
  });
});

test('a consumer of the stream abandons a failing record soon, and splits batches', () => {
  readers.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: 2,
  });
  // The emulator knows no bucket as the destination of failed batches.
  const { readers: local } = synthesizeStage({ stage: 'local' });
  local.resourceCountIs('AWS::Lambda::EventSourceMapping', 0);
});
