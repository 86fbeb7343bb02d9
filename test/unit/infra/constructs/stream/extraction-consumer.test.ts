import { ConfigError, ExtractionConsumer, type ExtractionConsumerProps } from '@cosecha/cosecha/cdk';
import { type Environment, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { TotalsStack } from '../../../../../examples/consumer/stack.ts';
import { embed, newApp } from '../../embedded.ts';
import { describeResources, flatten, propertiesOf, resourcesOf, statementsOfRole } from '../../synth.ts';

const consume = (props: Partial<Extract<ExtractionConsumerProps, { stage: string }>> = {}) => {
  const app = newApp();
  const stack = new Stack(app, 'Downstream');
  const handler = new LambdaFunction(stack, 'Handler', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {};'),
    role: new Role(stack, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
  });
  new ExtractionConsumer(stack, 'Consumer', { stage: 'prod', handler, ...props });
  return { app, template: Template.fromStack(stack) };
};

const { app, template } = consume();
const mappingOf = (from: Template) =>
  Object.values(from.findResources('AWS::Lambda::EventSourceMapping'))[0]?.Properties;
const patternsOf = (from: Template) =>
  mappingOf(from)?.FilterCriteria?.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern));

describe('a consumer that cannot read the stream', () => {
  const [ireland, virginia] = ['eu-west-1', 'us-east-1'];
  const consumeFrom = (own: Environment, its: Environment) => {
    const app = newApp();
    const bank = embed(new Stack(app, 'Banking', { env: its }), 'Bank');
    const stack = new Stack(app, 'Downstream', { env: own });
    const functionArn = `arn:aws:lambda:${own.region ?? ireland}:${own.account ?? '111122223333'}:function:f`;
    const handler = LambdaFunction.fromFunctionAttributes(stack, 'Handler', {
      functionArn,
      sameEnvironment: true,
    });
    return () => new ExtractionConsumer(stack, 'Consumer', { cosecha: bank, handler });
  };

  test.each([
    ['region', { region: ireland }, { region: virginia }],
    ['account', { region: ireland, account: '111122223333' }, { region: ireland, account: '444455556666' }],
  ])('as Cosecha is in another %s is refused with a sentence', (what, own, its) => {
    const consuming = consumeFrom(own, its);
    const error = new ConfigError(`a consumer of the stream has to be in the same ${what}`);
    expect(consuming).toThrow(
      expect.objectContaining({ name: error.name, message: expect.stringContaining(error.message) }),
    );
  });

  test.each([
    [{}, {}],
    [{ region: ireland }, { region: ireland }],
  ])('is accepted while both may be the same: %j', (own, its) => {
    expect(consumeFrom(own, its)).not.toThrow();
  });
});

describe('a consumer', () => {
  test('finds the stream and its key in the Parameter Store, as the stack publishes them', () => {
    const defaults = Object.values(template.findParameters('*')).map(({ Type, Default }) => [Type, Default]);
    expect(defaults).toEqual(
      expect.arrayContaining([
        ['AWS::SSM::Parameter::Value<String>', '/Cosecha-prod/extractions-stream-arn'],
        ['AWS::SSM::Parameter::Value<String>', '/Cosecha-prod/data-key-arn'],
      ]),
    );
    expect(JSON.stringify(template.toJSON())).not.toContain('ImportValue');
  });

  test('reads in order, retries, keeps an abandoned batch and raises an alarm, as a reviewer has read', async () => {
    const alarms = propertiesOf(template, 'AWS::CloudWatch::Alarm').map(
      ({ MetricName, Threshold }) => `${MetricName} >= ${Threshold}\n`,
    );
    await expect(describeResources(template) + alarms.join('')).toMatchFileSnapshot(
      'extraction-consumer.txt',
    );
  });

  test('may read this stream, decrypt it with its key, and put abandoned batches into the bucket', () => {
    const rights = statementsOfRole(template, '').map(({ Action, Resource, Condition }) => [
      [Action].flat().join(' '),
      flatten(Resource),
      ...(Condition === undefined ? [] : [JSON.stringify(Condition).includes('dynamodb.')]),
    ]);
    expect(rights).toEqual([
      [
        'dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:ListStreams',
        expect.stringContaining('extractionsstreamarn'),
      ],
      ['kms:Decrypt kms:DescribeKey', expect.stringContaining('datakeyarn'), true],
      ['s3:ListBucket', '<ConsumerFailures.Arn>'],
      ['s3:PutObject', '<ConsumerFailures.Arn>/aws/lambda/*'],
    ]);
  });

  test('has these permissions before the mapping is created', () => {
    const [mapping] = Object.values(template.findResources('AWS::Lambda::EventSourceMapping'));
    const policies = Object.keys(resourcesOf(template, 'AWS::IAM::Policy'));
    expect(mapping?.DependsOn).toEqual(expect.arrayContaining(policies));
  });

  test('receives every change with changes: all', () => {
    expect(patternsOf(consume({ changes: 'all' }).template)).toBeUndefined();
  });

  test('may read the results with readResults, without violating a rule of AWS Solutions', () => {
    const reading = consume({ readResults: true });
    reading.template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: 's3:GetObject', Resource: { 'Fn::Join': Match.anyValue() } }),
          Match.objectLike({
            Action: 'kms:Decrypt',
            Condition: { StringEquals: { 'kms:ViaService': { 'Fn::Join': ['', Match.arrayWith(['s3.'])] } } },
          }),
        ]),
      },
    });
    expect(new AwsSolutionsChecks(reading.app).validateScope(reading.app).violations).toEqual([]);
  });

  test('violates no rule of AWS Solutions without a written reason', () => {
    expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
  });
});

test('the example connects its function with the defaults', () => {
  const example = Template.fromStack(new TotalsStack(newApp(), 'prod'));
  expect(mappingOf(example)).toMatchObject({ StartingPosition: 'TRIM_HORIZON', MaximumRetryAttempts: 10 });
  expect(patternsOf(example)).toHaveLength(4);
});
