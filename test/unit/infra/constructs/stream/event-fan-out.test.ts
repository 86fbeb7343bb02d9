import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { cloudEventTemplate } from '../../../../../infra/constructs/stream/bus-event.ts';
import { outcomePatterns } from '../../../../../infra/constructs/stream/outcome-patterns.ts';
import { schemaViolations } from '../../../docs/contract-schemas.ts';
import { documentedRecords } from '../../../docs/documented-records.ts';
import { read } from '../../../docs/metric-names.ts';
import {
  flatten,
  propertiesOf,
  type Resource,
  resourcesOf,
  statementsOfRole,
  synthesize,
} from '../../synth.ts';

const { template } = synthesize({ fanOutToEventBus: 'true' });

describe('with fanOutToEventBus', () => {
  test('a pipe puts records of outcomes on a bus', () => {
    template.hasResourceProperties('AWS::Pipes::Pipe', {
      Source: { 'Fn::GetAtt': [Match.stringLikeRegexp('^StorageExtractions'), 'StreamArn'] },
      Target: { 'Fn::GetAtt': [Match.stringLikeRegexp('^EventFanOutBus'), 'Arn'] },
      TargetParameters: {
        EventBridgeEventBusParameters: { Source: 'cosecha', DetailType: 'Extraction changed' },
        InputTemplate: cloudEventTemplate('Cosecha-prod'),
      },
      SourceParameters: {
        DynamoDBStreamParameters: {
          StartingPosition: 'TRIM_HORIZON',
          BatchSize: 10,
          MaximumRecordAgeInSeconds: 21_600,
          OnPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          DeadLetterConfig: {
            Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^EventFanOutDeadLetters'), 'Arn'] },
          },
        },
        FilterCriteria: {
          Filters: [
            { Pattern: Match.stringLikeRegexp('"NewImage":\\{"settledAt"') },
            { Pattern: Match.stringLikeRegexp('"OldImage":\\{"settledAt"') },
          ],
        },
      },
      LogConfiguration: { Level: 'ERROR', IncludeExecutionData: Match.absent() },
    });
    template.hasOutput('EventBusArn', {});
  });

  test('a new stream gets a new pipe, of another name, as a pipe keeps its source', () => {
    const [{ Name, Source } = {}] = propertiesOf(template, 'AWS::Pipes::Pipe');
    const label = { 'Fn::Select': [3, { 'Fn::Split': ['/', Source] }] };
    const name = ['Cosecha-prod-', { 'Fn::Join': ['-', { 'Fn::Split': [':', label] }] }];
    expect(Name).toEqual({ 'Fn::Join': ['', name] });
    template.hasOutput('PipeName', { Value: Name });
    expect(JSON.stringify(resourcesOf(template, 'AWS::IAM::Role'))).toContain(JSON.stringify(name[1]));
  });

  test('the pipe is created after every alarm and the dashboard, so that its role has reached EventBridge', () => {
    const resources = template.toJSON().Resources as Record<string, Resource>;
    const needs = new Map(
      Object.entries(resources).map(([id, resource]) => [
        id,
        Object.keys(resources).filter(
          (other) => other !== id && JSON.stringify(resource).includes(`"${other}"`),
        ),
      ]),
    );
    const [pipe = ''] = Object.keys(resourcesOf(template, 'AWS::Pipes::Pipe'));
    const before = new Set(needs.get(pipe));
    for (const id of before) for (const other of needs.get(id) ?? []) before.add(other);
    const watched = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard'];
    const late = watched.flatMap((type) => Object.keys(resourcesOf(template, type)));
    expect(late.length).toBeGreaterThan(30);
    expect(late.filter((id) => !before.has(id))).toEqual([]);
    expect([...needs].filter(([, of]) => of.includes(pipe))).toEqual([]);
  });

  test('only the pipe has its role, which may read the stream and write to the bus and the queue', () => {
    const statements = statementsOfRole(template, 'EventFanOutRole');
    expect(statements.map(({ Action, Resource }) => [[Action].flat().join(' '), flatten(Resource)])).toEqual([
      [
        'dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:ListStreams',
        '<StorageExtractions.StreamArn>',
      ],
      ['kms:Decrypt kms:DescribeKey', '<DataKey.Arn>'],
      ['events:PutEvents', '<EventFanOutBus.Arn>'],
      ['sqs:SendMessage', '<EventFanOutDeadLetters.Arn>'],
    ]);
    template.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: 'pipes.amazonaws.com' },
            Condition: {
              StringEquals: {
                'aws:SourceAccount': { Ref: 'AWS::AccountId' },
                'aws:SourceArn': Match.objectLike({ 'Fn::Join': Match.anyValue() }),
              },
            },
          },
        ],
      },
    });
  });
});

test('the pipe makes the documented CloudEvent of a record', () => {
  const documented = JSON.parse(read('docs/events/bus/settled.json'));
  const record = documented.detail.data;
  const { traceparent, ...image } = record.dynamodb.NewImage;
  expect(image).toEqual(documentedRecords().get('settled')?.dynamodb?.NewImage);
  expect(traceparent.S).toMatch(/^00-/);
  const valueAt = (path: string): unknown =>
    path.split('.').reduce((value: unknown, name) => (value as Record<string, unknown>)[name], record);
  // As the pipe fills it in.
  const detail = JSON.parse(
    cloudEventTemplate('Cosecha-prod')
      .replace('<aws.pipes.event.json>', JSON.stringify(record))
      .replaceAll(/<\$\.([\w.]+)>/g, (_, path: string) => String(valueAt(path))),
  );
  expect(detail).toEqual(documented.detail);
  expect(schemaViolations('bus-event.json', documented)).toEqual([]);
  const { subject: _subject, ...withoutSubject } = detail;
  expect(schemaViolations('bus-event.json', { ...documented, detail: withoutSubject })).not.toEqual([]);
});

test('docs/stream.md has the patterns of outcomes as filters of Lambda', () => {
  const page = read('docs/stream.md');
  for (const pattern of outcomePatterns) expect(page).toContain(JSON.stringify(JSON.stringify(pattern)));
});

test('without fanOutToEventBus there is no pipe and no bus', () => {
  const { template: plain } = synthesize();
  plain.resourceCountIs('AWS::Pipes::Pipe', 0);
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
