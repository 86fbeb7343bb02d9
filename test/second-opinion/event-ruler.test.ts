import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { decodeExtractionEvent, type StreamRecord } from '#lib/downstream/decode-extraction-event.ts';
import { busEntryOf, type PublishedEvent } from '#lib/downstream/publish-events.ts';
import * as recordOf from '#lib/downstream/stream-records-for-tests.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { runCommand } from '../../tools/local/run-command.ts';
import { documentedRecords } from '../unit/docs/documented-records.ts';
import { read } from '../unit/docs/pages.ts';
import { twoInOneStack } from '../unit/infra/embedded.ts';
import { everyOption, resourcesOf, synthesize } from '../unit/infra/synth.ts';
import { synthesizeStage } from '../unit/tools/acceptance/synth.ts';
import { describeWithJava } from './describe-with-java.ts';
import { prepareJars } from './java.ts';

type Case = {
  readonly name: string;
  readonly event: unknown;
  readonly pattern: string;
  readonly matches: boolean;
};

/** The cases with what AWS's matcher answers. */
const answered = async (cases: readonly Case[]): Promise<readonly Case[]> => {
  const workspace = temporaryDirectory();
  const file = join(workspace, 'cases');
  writeFileSync(file, cases.map(({ event, pattern }) => `${JSON.stringify(event)}\t${pattern}\n`).join(''));
  const match = join(import.meta.dirname, 'Match.java');
  const { code, output } = await runCommand('java', ['-cp', join(await prepareJars(), '*'), match, file], {
    env: process.env,
    cwd: workspace,
  });
  // Not what Java itself reports, for example about JAVA_TOOL_OPTIONS.
  const answers = output.match(/^(true|false)$/gm) ?? [];
  if (code !== 0 || answers.length !== cases.length) throw new Error(`The matcher failed.\n${output}`);
  return cases.map((one, index) => ({ ...one, matches: answers[index] === 'true' }));
};

const onlyOf = (
  template: Template | undefined,
  type: string,
  id: string,
): Readonly<Record<string, unknown>> => {
  if (template === undefined) throw new Error('The stack is missing.');
  const found = Object.entries(resourcesOf(template, type)).filter(([name]) => name.startsWith(id));
  const [[, { Properties }] = ['', { Properties: {} }]] = found;
  if (found.length !== 1) throw new Error(`The template has ${found.length} ${type} ${id}, not one.`);
  return Properties;
};

type Filters = { readonly Filters: readonly { readonly Pattern: string }[] };

const publisherFilters = (): Filters =>
  onlyOf(synthesize(everyOption).template, 'AWS::Lambda::EventSourceMapping', 'OutcomeBus')
    .FilterCriteria as Filters;

const consumerFilters = (): Filters =>
  onlyOf(twoInOneStack().template, 'AWS::Lambda::EventSourceMapping', 'ConsumerMapping')
    .FilterCriteria as Filters;

/** The JSON block of docs/stream.md that contains this text. */
const documentedJson = (text: string): string => {
  const blocks = [...read('docs/stream.md').matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => json);
  const [block, ...others] = blocks.filter((json) => json.includes(text));
  if (block === undefined || others.length > 0)
    throw new Error(`docs/stream.md has not one block with ${text}.`);
  return block;
};

/** Every documented record, and other forms of the same kinds, with whether a reader of outcomes needs it (docs/stream.md). */
const records = (): readonly (readonly [name: string, record: unknown, isNeeded: boolean])[] => {
  const unneeded = ['requested', 'progressed'];
  const documented = [...documentedRecords()].map(
    ([kind, record]) => [`docs/events/${kind}.json`, record, !unneeded.includes(kind)] as const,
  );
  const outcomes = ['COMPLETED', 'FAILED', 'REJECTED', 'UNCONFIRMED', 'NOT_STARTED', 'TIMED_OUT'] as const;
  return [
    ...documented,
    ...outcomes.map((status) => [`settled as ${status}`, recordOf.settledEvent({ status }), true] as const),
    ['collected, by consent', recordOf.collectedEvent({ method: 'consent' }), true],
    ['rescheduled in grace', recordOf.housekeepingEvent({ status: 'TIMED_OUT' }), true],
    ['requested, by consent', recordOf.requestedEvent({ method: 'consent' }), false],
    ['started', recordOf.progressedEvent({ status: 'STARTING' }), false],
    ['rescheduled while it runs', recordOf.housekeepingEvent({ status: 'RUNNING' }), false],
    ['expired', recordOf.expiredEvent(), false],
  ];
};

const machine = 'arn:aws:states:eu-west-1:111122223333:stateMachine:Cosecha-prod-extractions';

/** What a pattern reads of it: https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html */
const executionEvent = (status: string, stateMachineArn = machine) => ({
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: { stateMachineArn, status },
});

/** The pattern of a rule, with the ARN of the machine in place of its reference. */
const patternOf = (rule: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(rule.EventPattern).replace(/\{"Ref":"ExtractionMachine\w+"\}/, JSON.stringify(machine));

const busEvent = (record: StreamRecord) => {
  const event = JSON.parse(read('docs/events/bus/settled.json'));
  const { detailType, detail } = busEntryOf(
    decodeExtractionEvent(record) as PublishedEvent,
    'urn:cosecha:stack:S',
  );
  return { ...event, 'detail-type': detailType, detail };
};

describeWithJava('Event Ruler', () => {
  test('the filters of publish-events, of a consumer and of docs/stream.md pass every record of an outcome, and no other', async () => {
    const filters: Readonly<Record<string, Filters>> = {
      publisher: publisherFilters(),
      consumer: consumerFilters(),
      documented: JSON.parse(documentedJson('"Filters"')),
    };
    const cases = Object.entries(filters).flatMap(([by, { Filters }]) =>
      records().flatMap(([name, event]) =>
        Filters.map(({ Pattern }) => ({ name: `${by}: ${name}`, event, pattern: Pattern, matches: false })),
      ),
    );
    // A record passes if one of the patterns matches.
    const passed = (await answered(cases)).flatMap(({ name, matches }) => (matches ? [name] : []));
    const needed = records().flatMap(([name, , isNeeded]) => (isNeeded ? [name] : []));
    expect(new Set(passed)).toEqual(
      new Set(Object.keys(filters).flatMap((by) => needed.map((name) => `${by}: ${name}`))),
    );
  });

  test('the rules match their events, and no others', async () => {
    const { readers } = synthesizeStage({ stage: 'accept', publishEvents: 'true' });
    const broken = patternOf(onlyOf(synthesize().template, 'AWS::Events::Rule', 'SafetyNetExecutionBroken'));
    const bus = patternOf(onlyOf(readers, 'AWS::Events::Rule', 'Settled'));
    const documented = JSON.stringify(JSON.parse(documentedJson('"detail-type": ["extraction.settled"]')));
    const ofStatus = (status: 'COMPLETED' | 'CREDENTIALS_WRONG') =>
      busEvent(recordOf.settledEvent({ status }));
    const cases: readonly Case[] = [
      ...['FAILED', 'TIMED_OUT', 'ABORTED', 'RUNNING', 'SUCCEEDED', 'PENDING_REDRIVE'].map((status) => ({
        name: status,
        event: executionEvent(status),
        pattern: broken,
        matches: ['FAILED', 'TIMED_OUT', 'ABORTED'].includes(status),
      })),
      {
        name: 'another machine',
        event: executionEvent('FAILED', `${machine}-2`),
        pattern: broken,
        matches: false,
      },
      { name: 'on the bus', event: ofStatus('COMPLETED'), pattern: bus, matches: true },
      {
        name: 'the documented advice',
        event: ofStatus('CREDENTIALS_WRONG'),
        pattern: documented,
        matches: true,
      },
      { name: 'another advice', event: ofStatus('COMPLETED'), pattern: documented, matches: false },
    ];
    expect(await answered(cases)).toEqual(cases);
  });
});
