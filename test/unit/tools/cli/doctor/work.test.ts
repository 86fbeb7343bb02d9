import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, onTestFinished, test } from 'vitest';
import { signaturePattern } from '#lib/provider/assumptions.ts';
import { pausesItem } from '#lib/shared-item/operator-settings.ts';
import { fail, stubClient } from '#support/aws/stub-client.ts';
import { at, extractionIn, id, iso, timings } from '#support/data/extraction-fixtures.ts';
import {
  checkAlarms,
  checkBreakers,
  checkDeadLetters,
  checkEventBus,
  checkOverdue,
  checkSessions,
  checkSweep,
} from '#tools/cli/doctor/check-alarms-and-backlog.ts';
import { checkProvider, checkWebhook } from '#tools/cli/doctor/check-provider.ts';
import { withRemedy } from '#tools/cli/doctor/finding.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';
import { startSandbox } from '../../../../../sandbox/sandbox.ts';

test('an alarm in ALARM fails, and is named', async () => {
  const check = (MetricAlarms: readonly object[]) =>
    checkAlarms(stubClient<CloudWatchClient>(() => ({ MetricAlarms })).client, ['a', 'b']);
  expect(await check([])).toEqual({ result: 'passed', message: 'none of 2 alarms is in ALARM' });
  const unknown = { AlarmName: 'b', StateValue: 'INSUFFICIENT_DATA' };
  const found = await check([{ AlarmName: 'a', StateValue: 'ALARM' }, unknown]);
  expect(found).toMatchObject({ result: 'failed', message: 'in ALARM: a' });
});

/** What the doctor finds of these items at second 100. */
const checkHolds = async (items: readonly (readonly unknown[])[]) =>
  withRemedy(
    await checkBreakers(
      { list: async () => new Map(items.map(([name, state]) => [String(name), { state }])) },
      at(100),
    ),
    commandTextOf(),
  );

const time = (seconds: number): number => at(seconds).getTime();
const orders = 'arn:aws:sts::111122223333:assumed-role/orders';
const opened = { since: time(40), pause: 30, turn: { at: time(130) }, cause: 'http-503' };
const inTrouble = (...groups: readonly object[]) => [
  orders,
  { groups: groups.map((own, index) => ({ name: `bank-${index}`, failed: [], opened: own })) },
];
const allOpen = { since: time(70), failing: { at: time(120) }, others: { at: time(105) }, taken: 2 };
const pause = { since: time(10), reason: 'maintenance', by: `${orders}/ana` };
const closes = 'Starts that a breaker holds go on once one is accepted.';
const held = 'starts of orders for bank-0 have been held for 1 min, as the provider answers 503;';
const all = 'starts of orders for all entities have been held for 30 s, as calls to the provider fail;';

test.each([
  [[inTrouble({ ...opened, turn: { at: time(130), holder: 'a' } })], [`${held} a start is tried now`]],
  [[inTrouble({ ...opened, turn: { at: time(99), holder: 'a' } })], [`${held} next turn now`]],
  [[[orders, { groups: [], opened: allOpen }]], [`${all} next turn in 5 s`]],
  [
    [[orders, { groups: [], opened: { ...allOpen, others: { at: time(400), holder: 'a' } } }]],
    [`${all} next turn in 20 s`],
  ],
  [
    [inTrouble(opened), [pausesItem, { starts: pause, reads: { since: time(90), reason: 'quota' } }]],
    [
      'starts have been paused for 1 min 30 s by ana: maintenance',
      'reads have been paused for 10 s: quota',
      `${held} next turn in 30 s`,
    ],
  ],
  [
    [inTrouble({ ...opened, since: time(70) }, opened)],
    [
      `${held.replace('bank-0', 'bank-1')} next turn in 30 s`,
      `${held.replace('1 min', '30 s')} next turn in 30 s`,
    ],
  ],
  [
    [inTrouble(...Array.from({ length: 7 }, () => opened))],
    [
      ...[0, 1, 2, 3, 4].map((n) => `${held.replace('bank-0', `bank-${n}`)} next turn in 30 s`),
      '2 more are held',
    ],
  ],
])('what holds calls fails, with since when, why and the next turn: %j', async (items, lines) => {
  expect(await checkHolds(items)).toMatchObject({ result: 'failed', message: lines.join('; ') });
});

test('a group that is not open holds nothing, and damaged items and times fail no tool', async () => {
  const items = [
    [orders, { groups: [{ name: 'bank', failed: [['extraction-1', time(1)]] }] }],
    [`${orders}-2`, { opened: true }],
    [pausesItem, 1e300],
  ];
  expect(await checkHolds(items)).toEqual({ result: 'passed', message: 'neither starts nor reads are held' });
  const timeless = [orders, { groups: [], opened: { ...allOpen, since: -1e300 } }];
  expect(await checkHolds([timeless])).toMatchObject({ result: 'failed' });
});

test.each([
  [[inTrouble(opened)], closes],
  [
    [[pausesItem, { starts: pause }]],
    'An operator paused starts. `npm exec --no -- cosecha resume` ends that.',
  ],
  [
    [inTrouble(opened), [pausesItem, { starts: pause, reads: pause }]],
    `An operator paused starts and reads. \`npm exec --no -- cosecha resume\` ends that. ${closes}`,
  ],
])('the remedy is that of what holds: %j', async (items, remedy) => {
  expect(await checkHolds(items)).toMatchObject({ remedy });
});

test.each([
  ['0', '0', { result: 'passed', message: 'dead-letter queue is empty' }],
  ['1', '2', { result: 'failed', message: 'dead-letter queue holds 3' }],
])('%s visible and %s hidden dead letters', async (visible, hidden, finding) => {
  const Attributes = { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: hidden };
  const { client } = stubClient<SQSClient>(() => ({ Attributes }));
  expect(await checkDeadLetters(client, 'url')).toMatchObject(finding);
});

test.each([
  [undefined, '0', { result: 'skipped', message: 'bus: none, as publishEvents is off' }],
  ['url', '0', { result: 'passed', message: 'bus: the dead-letter queue of publish-events is empty' }],
  ['url', '4', { result: 'failed', message: 'bus: the dead-letter queue of publish-events holds 4' }],
])('the bus with the queue %s, which holds %s', async (url, ApproximateNumberOfMessages, finding) => {
  const { client } = stubClient<SQSClient>(() => ({ Attributes: { ApproximateNumberOfMessages } }));
  expect(await checkEventBus(client, url)).toMatchObject(finding);
});

const overdue = {
  result: 'failed',
  message: `1 overdue; the longest due, ${id}, for 15 min 1 s`,
  remedy: `\`npm exec --no -- cosecha reconcile ${id}\` reconciles it now and reports what fails.`,
};

test.each([
  [[], { result: 'passed', message: 'no open extraction is due' }],
  [[900], { result: 'passed', message: `1 due, and none overdue; the longest, ${id}, for 15 min` }],
  [[100, 901], overdue],
])('extractions that are due for %j s', (seconds, finding) => {
  const due = seconds.map((late) => extractionIn('RUNNING', { dueAt: iso(10_000 - late) }));
  expect(withRemedy(checkOverdue(due, 5, at(10_000)), commandTextOf())).toEqual(finding);
});

test('a sweep that finished within three intervals passes, and without one it fails', async () => {
  const check = async (Datapoints: readonly unknown[]) => {
    const { client, sent } = stubClient<CloudWatchClient>(() => ({ Datapoints }));
    return { finding: await checkSweep(client, 'prod', 5, at(10_000)), sent };
  };
  const { finding, sent } = await check([9_500, 9_880].map((time) => ({ Timestamp: at(time), Sum: 1 })));
  expect(finding).toEqual({ result: 'passed', message: 'last sweep 2 min ago' });
  expect(sent[0]?.input).toMatchObject({
    Namespace: 'Cosecha/prod',
    MetricName: 'SweepFinished',
    // As test/unit/lib/observability/powertools-telemetry.test.ts has it in the EMF.
    Dimensions: [{ Name: 'service', Value: 'cosecha' }],
    StartTime: at(9_100),
  });
  const message = 'no sweep finished within 15 min';
  expect((await check([])).finding).toMatchObject({ result: 'failed', message });
});

test.each([
  [39, 'passed'],
  [40, 'failed'],
])('%i refused sessions within half an hour: %s', async (refused, result) => {
  const values = {
    LoggedIn: { Sum: 60 },
    SessionRefused: { Sum: refused },
    SecondsToStart: { SampleCount: 9 },
  };
  const { client } = stubClient<CloudWatchClient>(({ input }) => {
    const { MetricName } = input as { MetricName: keyof typeof values };
    return { Datapoints: [{ Timestamp: at(9_500), ...values[MetricName] }] };
  });
  const message = `60 logins, ${refused} refused sessions and 9 starts within 30 min`;
  expect(await checkSessions(client, 'prod', at(10_000))).toMatchObject({ result, message });
});

test('a provider that accepts the API key passes, and the failures of others are distinguished', async () => {
  const sandbox = await startSandbox({ clients: [{ clientId: 'c', apiKey: 'right-key' }] });
  onTestFinished(() => sandbox.close());
  const check = (apiKey: string, providerBaseUrl = sandbox.baseUrl, entities: readonly string[] = []) =>
    checkProvider(
      stubClient<SecretsManagerClient>(() => ({ SecretString: apiKey })).client,
      'S/key',
      {
        timings,
        timeout: 60,
        roleArn: '',
        sealKeyArn: '',
        providerBaseUrl,
        consentsAreSetUp: true,
        providerTimeouts: { connect: 1_000, total: 2_000 },
      },
      entities,
    );
  expect(await check('right-key')).toMatchObject({ result: 'passed' });
  expect(await check('right-key', sandbox.baseUrl, ['demo-bank'])).toMatchObject({
    result: 'passed',
    message: `provider ${sandbox.baseUrl} accepts the API key, and lists all 1 of the setting entities`,
  });
  expect(await check('right-key', sandbox.baseUrl, ['demo-bank', 'demo-bnak'])).toMatchObject({
    result: 'failed',
    message: `provider ${sandbox.baseUrl} does not list demo-bnak (nearest: demo-bank)`,
  });
  expect(await check('')).toMatchObject({ result: 'skipped' });
  const refused = `provider ${sandbox.baseUrl} refuses the API key`;
  expect(await check('other-key')).toMatchObject({ result: 'failed', message: refused });
  const silent = 'provider http://127.0.0.1:9 does not answer this machine';
  expect(await check('key', 'http://127.0.0.1:9')).toMatchObject({ result: 'failed', message: silent });
});

const url = 'https://hook.example/webhooks/provider';

test.each([
  [401, 'passed', `webhook refuses a wrong signature; the URL to register at the provider is ${url}`],
  [503, 'failed', 'webhook answers 503: it has no signing key'],
  [502, 'failed', 'webhook answers 502'],
  [404, 'failed', `webhook ${url} answers 404 instead of 401`],
  [204, 'failed', 'webhook accepts a wrong signature'],
  [undefined, 'failed', `webhook ${url} does not answer`],
])('a webhook that answers %s to a well-formed wrong signature has %s', async (status, result, message) => {
  const signatures: unknown[] = [];
  const answer = async (_url: string, { headers }: RequestInit) => {
    signatures.push((headers as Record<string, string>)['x-service-signature']);
    return status === undefined
      ? fail(new TypeError('fetch failed', { cause: new Error('reset') }))
      : new Response(null, { status });
  };
  expect(await checkWebhook(answer, url)).toMatchObject({ result, message });
  expect(signatures).toEqual([expect.stringMatching(signaturePattern)]);
});
