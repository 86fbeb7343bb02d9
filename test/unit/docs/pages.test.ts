import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeExtractionEvent, type StreamRecord } from '#lib/downstream/decode-extraction-event.ts';
import { logMessages } from '#lib/observability/log-messages.ts';
import { readConfig } from '../../../infra/settings/config.ts';
import { exampleSettings } from '../../../infra/settings/settings.ts';
import { commandNames, createProgram } from '../../../tools/cli/program.ts';
import { settingsJsonSchema, settingsPage } from '../../../tools/contracts/settings-page.ts';
import { kinds } from '../../../tools/contracts/stream-record-schema.ts';
import { documentedPolicies } from '../../support/aws/documented-policies.ts';
import { notifyingAlarms, propertiesOf, synthesize } from '../infra/synth.ts';
import { schemaViolations } from './contract-schemas.ts';
import { documentedRecords } from './documented-records.ts';
import { read } from './pages.ts';

const page = read('docs/cli.md');
const [intro = '', ...sections] = page.split(/^## /m);
const program = createProgram(async () => undefined, '');

const longOptions = ({ options }: (typeof program.commands)[number]): string[] =>
  options.flatMap(({ long }) => long ?? []);

test('docs/cli.md has a section for each command, in the order of the program, and for no other', () => {
  expect(sections.map((section) => section.split('\n')[0])).toEqual([
    ...commandNames(program),
    'Permissions',
  ]);
});

test('the help explains each option, and docs/cli.md names no option that its command lacks', () => {
  const named = (text: string): string[] => [...new Set(text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [])];
  const ofProgram = longOptions(program);
  const known = [...ofProgram, ...program.commands.flatMap(longOptions)];
  expect(ofProgram.filter((option) => !intro.includes(`\`${option}`))).toEqual([]);
  for (const command of program.commands) {
    expect(command.options.filter(({ description }) => description === '')).toEqual([]);
    const section = sections.find((text) => text.startsWith(`${command.name()}\n`)) ?? '';
    // Commands of the AWS CLI and of npm have their own options.
    const ours = section.replace(/^(\$ )?aws .*$|Run aws .*$|npm exec --no --/gm, '');
    expect({ [command.name()]: named(ours).filter((option) => !known.includes(option)) }).toEqual({
      [command.name()]: [],
    });
  }
});

test('docs/cli.md names the policies of every command that reaches a deployment', () => {
  const named = documentedPolicies(page).flatMap(({ commands }) => commands.map(([command]) => command));
  const local = ['completion', 'help'];
  const reaching = commandNames(program).filter((name) => !local.includes(name));
  expect([...new Set(named)].toSorted()).toEqual(reaching.toSorted());
  const longNames = program.commands.flatMap(longOptions);
  const options = documentedPolicies(page).flatMap(({ commands }) => commands.flatMap(([, ...rest]) => rest));
  expect(options.filter((option) => !longNames.includes(option))).toEqual([]);
});

/** With every optional feature, because every alarm needs its entry. */
const { template } = synthesize({ publishEvents: 'true', watchedEntities: 'demo-bank' });
const deployed = propertiesOf(template, 'AWS::CloudWatch::Alarm');
const alarms = notifyingAlarms(template).map(({ AlarmName, AlarmDescription }) => ({
  name: String(AlarmName),
  anchor: String(AlarmDescription).split('docs/operations.md#')[1] ?? '',
}));

/** The entries that alarms link to: the text under each heading, which is also its anchor. */
const [, chapter = ''] = /^## Alarms$(.*?)^## /ms.exec(read('docs/operations.md')) ?? [];
const runbookEntries = chapter
  .split('\n### ')
  .slice(1)
  .map((entry) => {
    const [id = '', ...lines] = entry.split('\n');
    return { id, text: lines.join('\n') };
  });

test('every alarm links to an entry, and every entry has an alarm', () => {
  expect(alarms.length).toBeGreaterThan(20);
  expect([...new Set(alarms.map(({ anchor }) => anchor))].toSorted()).toEqual(
    runbookEntries.map(({ id }) => id).toSorted(),
  );
});

test.each(runbookEntries)('$id: its meaning, the first command and the fix, in 18 lines', ({ text }) => {
  const parts = ['**Meaning.** ', '**First.** ', '**Fix.** '];
  const places = parts.map((part) => text.indexOf(`\n${part}`));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  // A part has content, not a title alone.
  for (const part of parts) expect(text.split(part)[1]?.length).toBeGreaterThan(40);
  expect(text.slice(places[1], places[2])).toMatch(/```sh\n[^`]+\n```/);
  const lines = `### \n${text}`.trim().split('\n');
  expect(lines.length).toBeLessThanOrEqual(18);
  // Longer lines would only pack the entry.
  expect(lines.filter((line) => line.length > 160)).toEqual([]);
});

test('an entry names each of its alarms with another name', () => {
  for (const { id, text } of runbookEntries) {
    for (const { name, anchor } of alarms) {
      if (anchor === id && !name.endsWith(`-${id}`)) {
        expect([id, text]).toEqual([id, expect.stringContaining(name.replace('Cosecha-prod-', ''))]);
      }
    }
  }
});

test('docs/operations.md has how many alarms there are', () => {
  const always = deployed.filter(({ AlarmName }) => !String(AlarmName).includes('bank-failing-'));
  expect(read('docs/operations.md')).toContain(`${always.length} alarms watch`);
});

// `npm run docs:settings` writes it.
test('docs/settings.md and the schema for editors are what infra/settings/settings.ts describes', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../../docs/settings.md');
  await expect(settingsJsonSchema()).toMatchFileSnapshot('../../../stages/settings.schema.json');
});

test('docs/data-protection.md and docs/leave.md have the defaults of the settings that they name', () => {
  const defaults = readConfig(exampleSettings) as Readonly<Record<string, unknown>>;
  const text = read('docs/data-protection.md') + read('docs/leave.md');
  const named = [...text.matchAll(/`(\w+)` \((\d+)( minutes| hours)?\)/g)];
  expect(named.length).toBeGreaterThan(6);
  const seconds = { ' minutes': 60, ' hours': 3_600 };
  expect(
    named.map(([, name = '', number, unit]) => [
      name,
      Number(number) * (unit ? seconds[unit as keyof typeof seconds] : 1),
    ]),
  ).toEqual(named.map(([, name = '']) => [name, defaults[name]]));
});

const documented = documentedRecords();

test('docs/events has a record of every kind except `expired`, which is `erased` with one field more', () => {
  expect([...documented.keys(), 'expired'].toSorted()).toEqual(Object.keys(kinds).toSorted());
});

test('docs/stream.md links to the record of each kind', () => {
  const page = read('docs/stream.md');
  const links = [...page.matchAll(/\]\(events\/([a-z-]+)\.json\)/g)].map(([, kind]) => kind);
  expect(links.toSorted()).toEqual([...documented.keys()].toSorted());
});

test.each([...documented])(
  'docs/events/%s.json is decoded as that kind, and forwarded as the sample',
  (kind, record) => {
    const event = decodeExtractionEvent(record);
    expect(event.kind).toBe(kind);
    // `npm run docs:schemas` writes it.
    expect(JSON.parse(read(`docs/events/forwarded/${kind}.json`))).toEqual(event);
    expect(schemaViolations(`event.json#/$defs/${kind}`, event)).toEqual([]);
    expect(schemaViolations('event.json', event)).toEqual([]);
  },
);

test.each([
  ['kind', 'requested'],
  ['from', undefined],
  ['outcome', ''],
  ['sequenceNumber', 17],
  ['extraction', { status: 'COMPLETED' }],
])('event.json refuses a settled event with another %s', (field, value) => {
  const event = decodeExtractionEvent(documented.get('settled') as StreamRecord);
  const mutated = JSON.parse(JSON.stringify({ ...event, [field]: value })) as unknown;
  expect(schemaViolations('event.json#/$defs/settled', mutated)).not.toEqual([]);
});

test('event.json accepts a kind of a later version, and no known one in the form of another', () => {
  const event = decodeExtractionEvent(documented.get('settled') as StreamRecord);
  expect(schemaViolations('event.json', { ...event, kind: 'withdrawn' })).toEqual([]);
  expect(schemaViolations('event.json', { ...event, kind: 'not-collected' })).not.toEqual([]);
});

test('each message of a log that a page filters by is logged', () => {
  const filtered = read('docs/operations.md').matchAll(/message = ['"]([^'"]+)['"]/g);
  const messages = [...filtered].map(([, message]) => message);
  expect(messages).not.toEqual([]);
  expect(messages.filter((one) => !Object.values<unknown>(logMessages).includes(one))).toEqual([]);
  // What a page names in a sentence may be written where it is logged.
  const sources = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => read(`lib/${path}`))
    .join('\n');
  const named = [...read('docs/operations.md').matchAll(/`([A-Z][a-z]+ [^`]+\.)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((one) => !sources.includes(`'${one}'`))).toEqual([]);
});
