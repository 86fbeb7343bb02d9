import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type BreakerState, closedBreaker, pause } from '../../../../../lib/breaker/breaker-state.ts';
import { signaturePattern } from '../../../../../lib/provider/assumptions.ts';
import { checkProvider, checkWebhook } from '../../../../../tools/cli/doctor/check-provider.ts';
import {
  checkAlarms,
  checkBreakers,
  checkDeadLetters,
  checkFanOut,
  checkOverdue,
  checkSweep,
} from '../../../../../tools/cli/doctor/check-work.ts';
import { startSandbox } from '../../../../sandbox/sandbox.ts';
import { at, extractionIn, id, iso, timings } from '../../../../support/extraction-fixtures.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

const check = (MetricAlarms: readonly object[]) =>
  checkAlarms(stubClient<CloudWatchClient>(() => ({ MetricAlarms })).client, ['a', 'b']);

test('an alarm in ALARM fails, and is named', async () => {
  expect(await check([])).toEqual({ result: 'passed', message: 'none of 2 alarms is in ALARM' });
  expect(
    await check([
      { AlarmName: 'a', StateValue: 'ALARM' },
      { AlarmName: 'b', StateValue: 'OK' },
    ]),
  ).toMatchObject({ result: 'failed', message: 'in ALARM: a' });
});

describe('check-breakers', () => {
  const check = (starts: BreakerState, reads: BreakerState = closedBreaker) =>
    checkBreakers({ read: async (name) => ({ state: name === 'starts' ? starts : reads }) }, at(100));

  const opened = { since: at(40).getTime(), until: at(130).getTime(), seconds: 60, groups: {} };

  test.each([
    [
      { ...closedBreaker, opened },
      'starts are held since 1 min, as calls to the provider fail; next probe in 30 s',
    ],
    [
      { ...closedBreaker, opened: { ...opened, until: at(99).getTime() } },
      'starts are held since 1 min, as calls to the provider fail; next probe now',
    ],
    [
      pause({ ...closedBreaker, opened }, 'maintenance', at(10).getTime()),
      'starts are paused since 1 min 30 s: maintenance',
    ],
  ])('it fails with the reason: %j', async (starts, message) => {
    expect(await check(starts)).toMatchObject({ result: 'failed', message });
  });

  test('it names both breakers if both hold calls', async () => {
    const held = { ...closedBreaker, opened };
    expect(
      (await check(held, held)).message.split('; ').filter((part) => /^(starts|reads) are/.test(part)),
    ).toHaveLength(2);
  });
});

test.each([
  ['0', '0', { result: 'passed', message: 'dead-letter queue is empty' }],
  ['1', '2', { result: 'failed', message: 'dead-letter queue holds 3' }],
])('%s visible and %s hidden dead letters', async (visible, hidden, finding) => {
  const Attributes = {
    ApproximateNumberOfMessages: visible,
    ApproximateNumberOfMessagesNotVisible: hidden,
  };
  const { client } = stubClient<SQSClient>(() => ({ Attributes }));
  expect(await checkDeadLetters(client, 'url')).toMatchObject(finding);
});

describe('check-fan-out', () => {
  const reconcileQueue = 'https://of-reconciles';
  const deadLetters = 'https://of-dead-letters';
  const others = [reconcileQueue, deadLetters];
  const pipeQueue = 'https://of-the-pipe';

  const check = async (urls: readonly string[], ApproximateNumberOfMessages = '0') => {
    const { client, sent } = stubClient<SQSClient>(() => ({ Attributes: { ApproximateNumberOfMessages } }));
    return { finding: await checkFanOut(client, urls, others), sent };
  };

  test('a stack whose only queues are those of reconciles has no bus, and the check is skipped', async () => {
    const { finding, sent } = await check(others);
    expect(finding).toEqual({ result: 'skipped', message: 'bus: none, as fanOutToEventBus is off' });
    expect(sent).toEqual([]);
  });

  test('dead letters of the pipe fail', async () => {
    const { finding, sent } = await check([...others, pipeQueue], '4');
    expect(finding).toMatchObject({
      result: 'failed',
      message: 'bus: the dead-letter queue of its pipe holds 4',
    });
    expect(sent[0]?.input).toMatchObject({ QueueUrl: pipeQueue });
    expect((await check([pipeQueue, ...others])).finding).toMatchObject({ result: 'passed' });
  });
});

describe('check-overdue', () => {
  const dueFor = (seconds: number) => extractionIn('RUNNING', { dueAt: iso(10_000 - seconds) });
  const check = (...seconds: readonly number[]) => checkOverdue(seconds.map(dueFor), 5, at(10_000));

  test('extractions that are due for less than three intervals of the sweep pass', () => {
    expect(check()).toEqual({ result: 'passed', message: 'no open extraction is due' });
    expect(check(900)).toEqual({
      result: 'passed',
      message: `1 due, and none overdue; the longest, ${id}, for 15 min`,
    });
  });

  test('an extraction that is due for longer fails, and is named', () => {
    expect(check(100, 901)).toEqual({
      result: 'failed',
      message: `1 overdue; the longest due, ${id}, for 15 min 1 s`,
      remedy: `\`cosecha reconcile ${id}\` reconciles it now and reports what fails.`,
    });
  });
});

describe('check-sweep', () => {
  const check = async (Datapoints: readonly unknown[]) => {
    const { client, sent } = stubClient<CloudWatchClient>(() => ({ Datapoints }));
    return { finding: await checkSweep(client, 'prod', 5, at(10_000)), sent };
  };

  test('a sweep that finished within three intervals passes', async () => {
    const { finding, sent } = await check([
      { Timestamp: at(9_500), Sum: 1 },
      { Timestamp: at(9_880), Sum: 1 },
    ]);
    expect(finding).toEqual({ result: 'passed', message: 'last sweep 2 min ago' });
    expect(sent[0]?.input).toMatchObject({
      Namespace: 'Cosecha/prod',
      MetricName: 'SweepFinished',
      // As test/unit/lib/observability/observability.test.ts has it in the EMF.
      Dimensions: [{ Name: 'service', Value: 'cosecha' }],
      StartTime: at(9_100),
    });
  });

  test('no sweep that finished within three intervals fails', async () => {
    expect((await check([])).finding).toMatchObject({
      result: 'failed',
      message: 'no sweep finished within 15 min',
    });
  });
});

describe('check-provider', () => {
  const check = (apiKey: string, providerBaseUrl: string) =>
    checkProvider(stubClient<SecretsManagerClient>(() => ({ SecretString: apiKey })).client, 'S/key', {
      timings,
      timeout: 60,
      providerBaseUrl,
      providerTimeouts: { connect: 1_000, total: 2_000 },
    });

  test('a provider that accepts the API key passes, one that refuses it fails, and no key is skipped', async () => {
    const sandbox = await startSandbox({ clients: [{ clientId: 'c', apiKey: 'right-key' }] });
    onTestFinished(() => sandbox.close());
    expect(await check('right-key', sandbox.baseUrl)).toMatchObject({ result: 'passed' });
    expect(await check('other-key', sandbox.baseUrl)).toMatchObject({
      result: 'failed',
      message: `provider ${sandbox.baseUrl} refuses the API key`,
    });
    expect(await check('', sandbox.baseUrl)).toMatchObject({ result: 'skipped' });
  });

  test('a provider that does not answer fails', async () => {
    expect(await check('key', 'http://127.0.0.1:9')).toMatchObject({
      result: 'failed',
      message: 'provider http://127.0.0.1:9 does not answer this machine',
    });
  });
});

describe('check-webhook', () => {
  const url = 'https://hook.example/webhooks/provider';

  const check = async (status: number) => {
    const requests: RequestInit[] = [];
    const finding = await checkWebhook(async (_url, init) => {
      requests.push(init);
      return new Response(null, { status });
    }, url);
    return { finding, requests };
  };

  test('a webhook that refuses a well-formed wrong signature passes, with its URL', async () => {
    const { finding, requests } = await check(401);
    expect(finding).toEqual({
      result: 'passed',
      message: `webhook refuses a wrong signature; the URL to register at the provider is ${url}`,
    });
    const headers = requests[0]?.headers as Record<string, string>;
    expect(headers['x-service-signature']).toMatch(signaturePattern);
  });

  test.each([
    [503, 'webhook answers 503: it has no signing key'],
    [502, 'webhook answers 502'],
    [404, `webhook ${url} answers 404 instead of 401`],
    [204, 'webhook accepts a wrong signature'],
  ])('a webhook that answers %d fails', async (status, message) => {
    expect((await check(status)).finding).toMatchObject({ result: 'failed', message });
  });

  test('a webhook that does not answer fails', async () => {
    const finding = await checkWebhook(() => fail(new TypeError('fetch failed')), url);
    expect(finding).toMatchObject({ result: 'failed', message: `webhook ${url} does not answer` });
  });
});
