import { expect, test } from 'vitest';
import { outcomePatterns } from '../../../../../infra/constructs/stream/outcome-patterns.ts';
import { isAllowed, type Statement } from '../../../../support/aws/evaluate-policies.ts';
import { read } from '../../../docs/pages.ts';
import { flatten, functionsOf, propertiesOf, statementsOfRole, synthesize } from '../../synth.ts';

const { template } = synthesize({ publishEvents: 'true' });

test('its role may read the stream, and write to the bus and the queue', () => {
  const statements = statementsOfRole(template, 'EventPublisherRole');
  expect(statements.map(({ Action, Resource }) => [[Action].flat().join(' '), flatten(Resource)])).toEqual([
    ['logs:CreateLogStream logs:PutLogEvents', '<EventPublisherLog.Arn>'],
    ['events:PutEvents', '<OutcomeBus.Arn>'],
    ['kms:Decrypt kms:DescribeKey', '<DataKey.Arn>'],
    [
      'dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:ListStreams',
      '<StorageExtractions.StreamArn>',
    ],
    ['sqs:SendMessage', '<OutcomeBusDeadLetters.Arn>'],
  ]);
});

test('docs/stream.md has the patterns of outcomes as filters of Lambda', () => {
  const page = read('docs/stream.md');
  for (const pattern of outcomePatterns) expect(page).toContain(JSON.stringify(JSON.stringify(pattern)));
});

test('without publishEvents there is no bus and no function', () => {
  const { template: plain } = synthesize();
  expect([...functionsOf(plain).keys()]).not.toContain('publish-events');
  plain.resourceCountIs('AWS::Events::EventBus', 0);
});

test('every stack publishes its stream, its bucket of results and their key', () => {
  const parameters = propertiesOf(synthesize().template, 'AWS::SSM::Parameter');
  expect(parameters.map(({ Name, Value }) => [Name, flatten(Value)])).toEqual([
    ['/Cosecha-prod/extractions-stream-arn', '<StorageExtractions.StreamArn>'],
    ['/Cosecha-prod/data-key-arn', '<DataKey.Arn>'],
    ['/Cosecha-prod/results-bucket-name', '<StorageResults>'],
  ]);
});

test('the statements of docs/stream.md let the rule of one account send to the queue of another, and nobody else', () => {
  const [, section = ''] = read('docs/stream.md').split('### From another account\n');
  const [ofRole, ofQueue] = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) =>
    JSON.parse(json),
  );
  const role = ofQueue.Principal.AWS as string;
  const send = { action: 'sqs:SendMessage', resource: ofQueue.Resource as string };
  const may = (principal: string, identity: readonly Statement[]) =>
    isAllowed({ principal, ...send }, { identity, resource: [ofQueue] }, flatten);
  expect(ofRole.Resource).toBe(ofQueue.Resource);
  expect(role.split(':')[4]).not.toBe(send.resource.split(':')[4]);
  expect(isAllowed({ principal: role, ...send }, { identity: [ofRole] }, flatten)).toBe(true);
  expect(may(role, [ofRole])).toBe(true);
  expect(may(`${role}-2`, [])).toBe(false);
});
