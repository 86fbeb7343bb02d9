import { expect, test } from 'vitest';
import { flatten, resourcesOf, synthesize } from '../../../infra/synth.ts';

const accept = synthesize({ stage: 'accept', probe: 'true' });
const fakeProvider = accept.fakeProviderTemplate;
if (fakeProvider === undefined) throw new Error('probe=true adds no stack');

const variablesOf = ({ template }: Pick<typeof accept, 'template'>) =>
  Object.values(resourcesOf(template, 'AWS::Lambda::Function')).map(
    ({ Properties }) =>
      (Properties.Environment as { Variables: Readonly<Record<string, unknown>> }).Variables,
  );

test('without the setting there is no probe', () => {
  expect(synthesize().fakeProviderTemplate).toBeUndefined();
});

test('the fake provider is the provider of every function that calls one, by a reference that blocks no deletion', () => {
  const variables = variablesOf(accept).filter((one) => one.PROVIDER_BASE_URL !== undefined);
  expect(variables.map(({ POWERTOOLS_SERVICE_NAME }) => POWERTOOLS_SERVICE_NAME).toSorted()).toEqual([
    'manage-consents',
    'reconcile-extraction',
    'start-task',
  ]);
  for (const { PROVIDER_BASE_URL, PROVIDER_CLIENT_ID } of variables) {
    expect(PROVIDER_BASE_URL).toMatchObject({
      'Fn::GetStackOutput': { StackName: 'Cosecha-accept-fake-provider' },
    });
    expect(PROVIDER_CLIENT_ID).toBe('00000000-0000-4000-8000-0000000c0de0');
  }
  expect(JSON.stringify([fakeProvider.toJSON(), accept.template.toJSON()])).not.toMatch(
    /Fn::ImportValue|"Export"/,
  );
});

test('in the stage local the provider is where the emulator serves the API of the fake provider', () => {
  const { fakeProviderTemplate } = synthesize({ stage: 'local', probe: 'true' });
  const { Value } = fakeProviderTemplate?.findOutputs('FakeProviderUrl').FakeProviderUrl ?? {};
  expect(flatten(Value)).toBe('http://127.0.0.1:4566/_aws/execute-api/<Api>/$default');
});

test('everything is deleted with the two stacks', () => {
  const kept = [fakeProvider, accept.template].flatMap((template) =>
    Object.entries(template.toJSON().Resources as Record<string, { DeletionPolicy?: string; Type: string }>)
      .filter(([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete')
      .map(([id, { Type }]) => `${id} ${Type}`),
  );
  expect(kept).toEqual([]);
  for (const { Properties } of Object.values(resourcesOf(accept.template, 'AWS::DynamoDB::Table'))) {
    expect(Properties.DeletionProtectionEnabled).toBe(false);
  }
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
