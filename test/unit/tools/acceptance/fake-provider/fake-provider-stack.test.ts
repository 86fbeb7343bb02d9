import { expect, test } from 'vitest';
import { flatten, resourcesOf } from '../../../infra/synth.ts';
import { synthesizeStage } from '../synth.ts';

const { fakeProvider, cosecha, readers } = synthesizeStage({ stage: 'accept' });

test('the fake provider is the provider of every function that calls one, by an export of its stack', () => {
  const variables = Object.values(resourcesOf(cosecha, 'AWS::Lambda::Function'))
    .map(
      ({ Properties }) =>
        (Properties.Environment as { Variables: Readonly<Record<string, unknown>> }).Variables,
    )
    .filter((one) => one.PROVIDER_BASE_URL !== undefined);
  expect(variables.map(({ POWERTOOLS_SERVICE_NAME }) => POWERTOOLS_SERVICE_NAME).toSorted()).toEqual([
    'manage-consents',
    'reconcile-extraction',
    'start-task',
  ]);
  for (const { PROVIDER_BASE_URL, PROVIDER_CLIENT_ID } of variables) {
    // A strong reference. A weak one, Fn::GetStackOutput, would need cloudformation:DescribeStacks by the role that deploys:
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
    expect(PROVIDER_BASE_URL).toMatchObject({
      'Fn::ImportValue': expect.stringMatching(/^Cosecha-accept-fake-provider:/),
    });
    expect(PROVIDER_CLIENT_ID).toBe('00000000-0000-4000-8000-0000000c0de0');
  }
  expect(JSON.stringify([fakeProvider, cosecha, readers].map((one) => one.toJSON()))).not.toContain(
    'Fn::GetStackOutput',
  );
});

test('in the stage local the provider is where the emulator serves the API of the fake provider', () => {
  const { fakeProvider } = synthesizeStage({ stage: 'local' });
  const { Value } = fakeProvider.findOutputs('FakeProviderUrl').FakeProviderUrl ?? {};
  expect(flatten(Value)).toBe('http://127.0.0.1:4566/_aws/execute-api/<Api>/$default');
});

test('the fake provider may read its two secrets, use its queue and write its log, and nothing else', () => {
  const statements = Object.values(resourcesOf(fakeProvider, 'AWS::IAM::Policy')).flatMap(
    ({ Properties }) =>
      (Properties.PolicyDocument as { Statement: readonly { Action: unknown; Resource: unknown }[] })
        .Statement,
  );
  const rights = statements.flatMap(({ Action, Resource }) =>
    [Resource]
      .flat()
      .flatMap((resource) => [Action].flat().map((action) => `${action} ${flatten(resource)}`)),
  );
  const secret =
    'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Cosecha-accept-fake-provider';
  expect(rights.toSorted()).toEqual([
    'logs:CreateLogStream <FakeProviderLog.Arn>',
    'logs:PutLogEvents <FakeProviderLog.Arn>',
    `secretsmanager:GetSecretValue ${secret}/registration-??????`,
    `secretsmanager:GetSecretValue ${secret}/token-key-??????`,
    'sqs:DeleteMessage <Deliveries.Arn>',
    'sqs:GetQueueAttributes <Deliveries.Arn>',
    'sqs:ReceiveMessage <Deliveries.Arn>',
    'sqs:SendMessage <Deliveries.Arn>',
  ]);
});

test('its logs are encrypted', () => {
  const groups = Object.values(resourcesOf(fakeProvider, 'AWS::Logs::LogGroup'));
  expect(groups).toHaveLength(2);
  for (const { Properties } of groups) expect(flatten(Properties.KmsKeyId)).toBe('<DataKey.Arn>');
});

test('a webhook waits for as long as the longest task, and is not read again while it is sent', () => {
  const [queue] = Object.values(resourcesOf(fakeProvider, 'AWS::SQS::Queue'));
  const [providerFunction] = Object.values(resourcesOf(fakeProvider, 'AWS::Lambda::Function'));
  expect(queue?.Properties).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 3_600 });
  expect(queue?.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(
    Number(providerFunction?.Properties.Timeout),
  );
});
