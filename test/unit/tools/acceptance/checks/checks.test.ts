import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { afterEach, expect, test, vi } from 'vitest';
import { acceptApi } from '#tools/acceptance/checks/call-deployed-api.ts';
import type { AcceptContext } from '#tools/acceptance/checks/check.ts';
import { alarmRaised } from '#tools/acceptance/checks/check-alarms.ts';
import { unsignedRefused, unsignedVerdict } from '#tools/acceptance/checks/check-callers.ts';
import { maxChain } from '#tools/acceptance/checks/check-consent.ts';
import { differences, metricsOf, problemsOf } from '#tools/acceptance/checks/check-deployed.ts';
import { untilWith } from '#tools/acceptance/checks/run-checks.ts';

/** Calls an API that gives these answers, and returns the last status with the number of requests. */
const call = async (...answers: readonly number[]) => {
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    return new Response('{}', { status: answers[requests - 1] ?? 200 });
  };
  const api = acceptApi({ base: 'https://api.example', fetch }, async () => {});
  const { status } = await api.call('GET', '/extractions/e-1');
  return { status, requests };
};

test.each([429, 500, 503])('a single answer %i is not the result', async (status) => {
  expect(await call(status)).toEqual({ status: 200, requests: 2 });
});

test('two of them are, and nothing else is repeated', async () => {
  expect(await call(503, 503)).toEqual({ status: 503, requests: 2 });
  expect(await call(404)).toEqual({ status: 404, requests: 1 });
  expect(await call(403)).toEqual({ status: 403, requests: 1 });
});

test('a flood is sent at once, and its answers 429 are not repeated', async () => {
  let open = 0;
  let requests = 0;
  const held = Promise.withResolvers<void>();
  const answer = async (status: number): Promise<Response> => {
    requests += 1;
    open += 1;
    // The last of them lets all go.
    if (open === 408) held.resolve();
    await held.promise;
    return new Response('{}', { status });
  };
  vi.stubGlobal('fetch', () => answer(403));
  const api = acceptApi({ base: 'https://api.example', fetch: () => answer(429) }, async () => {});
  const context = { api, randomId: () => 'id', now: () => beganAt } as unknown as AcceptContext;
  const { kind, explanation } = await unsignedRefused.run(context);
  expect([kind, explanation, requests]).toEqual(['passed', expect.stringContaining('counts them'), 408]);
});

test('whether a throttle counts unsigned requests is open while they are fewer than it lets pass', () => {
  const answers = (status: number) => Array<number>(400).fill(status);
  const signed = [404, 404];
  const verdict = (seconds: number) => unsignedVerdict({ unsigned: answers(403), signed, seconds });
  expect(verdict(5)).toMatchObject({
    kind: 'passed',
    explanation: expect.stringContaining('does not count them'),
  });
  expect(verdict(6)).toMatchObject({
    kind: 'skipped',
    explanation: expect.stringContaining('lets 400 pass'),
  });
  const some = unsignedVerdict({ unsigned: [...answers(403), 429], signed, seconds: 60 });
  expect(some).toMatchObject({
    kind: 'passed',
    explanation: expect.stringMatching(/^the throttle of the route counts/),
  });
  expect(() => unsignedVerdict({ unsigned: [404], signed, seconds: 1 })).toThrow('neither 403 nor 429');
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const beganAt = new Date('2026-05-04T10:20:30.000Z');
const alarm = 'Cosecha-accept-unconfirmed';

/** A message of SNS about the alarm. */
const message = (NewStateValue: string, time: string): string => {
  const StateChangeTime = `2026-05-04T${time}.000+0000`;
  const Message = { AlarmName: alarm, NewStateValue, NewStateReason: 'r', StateChangeTime };
  return JSON.stringify({ Type: 'Notification', Message: JSON.stringify(Message) });
};

const waiting = { sleep: async () => {}, waitFor: () => {} };

/** Runs the check. The metric has no value of this run in its first two reads, and the alarm is raised again after its reset. */
const run = async () => {
  const log: string[] = [];
  const queue = [message('ALARM', '10:15:00'), message('OK', '10:30:00')];
  let reads = 0;
  vi.spyOn(CloudWatchClient.prototype, 'send').mockImplementation((async (command: { input: object }) => {
    const { name } = command.constructor;
    log.push(name.replace(/Command$/, ''));
    if (name === 'SetAlarmStateCommand') queue.push(message('ALARM', '10:31:00'));
    if (name !== 'GetMetricStatisticsCommand') return {};
    reads += 1;
    return { Datapoints: reads > 2 ? [{ Timestamp: beganAt, Sum: 1 }] : [] };
  }) as never);
  const extraction = { extractionId: 'e-1', status: 'UNCONFIRMED', settledAt: beganAt.toISOString() };
  const context = {
    client: { region: 'eu-west-1' },
    deployment: { stage: 'accept', stackName: 'Cosecha-accept' },
    fakeProvider: { output: () => 'https://sqs.example/queue' },
    received: queue,
    api: {
      request: async () => ({ extraction, replayed: false }),
      call: async () => ({ status: 200, body: JSON.stringify(extraction) }),
    },
    now: () => beganAt,
    randomId: () => 'id',
    ...waiting,
    until: untilWith(waiting),
  } as unknown as AcceptContext;
  return { result: await alarmRaised.run(context), log };
};

test('an alarm that an earlier run left up is reset once the metric has a value of this run', async () => {
  const { result, log } = await run();
  expect(result.kind).toBe('passed');
  expect(log).toEqual([...Array(3).fill('GetMetricStatistics'), 'SetAlarmState']);
});

test('a chain of polls ends where the sweep, and not a message, caused one', () => {
  const due = (count: number): string[] => Array(count).fill('due');
  expect(maxChain(['start', ...due(16), 'sweep', ...due(12)])).toBe(16);
  expect(maxChain([...due(3), 'sweep', ...due(20)])).toBe(20);
  expect(maxChain([])).toBe(0);
});

test('a part of the stage that is missing, or not as in the template, is named', () => {
  const sizes = { 'start-task': '256 MB and a timeout of 90 s', 'sweep-extractions': '128 MB' };
  const template = new Map(Object.entries(sizes));
  expect(differences('function', template, template)).toEqual([]);
  const deployed = new Map([['start-task', '128 MB and a timeout of 3 s']]);
  expect(differences('function', template, deployed)).toEqual([
    'The function start-task has 128 MB and a timeout of 3 s instead of 256 MB and a timeout of 90 s.',
    'The function sweep-extractions is missing.',
  ]);
});

test('the metrics of an alarm are compared in any order', () => {
  const metric = (MetricName: string) => ({ MetricStat: { Metric: { Namespace: 'Cosecha', MetricName } } });
  const Metrics = [metric('UnlinkedDelivery'), metric('EarlyDelivery')] as never[];
  expect(metricsOf({ Metrics })).toBe('Cosecha EarlyDelivery, Cosecha UnlinkedDelivery');
  expect(metricsOf({ Metrics: Metrics.toReversed() })).toBe(metricsOf({ Metrics }));
  expect(metricsOf({ Namespace: 'Cosecha', MetricName: 'Unconfirmed' })).toBe('Cosecha Unconfirmed');
  expect(metricsOf({})).toBe('no metric');
});

test('an item that is left to expire is a problem, unless the log has that its removal failed', () => {
  const notChecked = 'items that are left to expire: 1, such as that of e-1';
  const passed = { result: 'passed', checked: 1, findings: [] } as const;
  const rules = [{ ...passed, id: 'requests-forgotten', sentence: '', notChecked, left: ['e-1'] }];
  const line = (id: string) => JSON.stringify({ extractionId: id, metric: 'RequestDataNotRemoved' });
  expect(problemsOf(rules, [line('e-2'), '{"extractionId":"e-1"}'])).toEqual([
    `requests-forgotten was not checked: ${notChecked}`,
  ]);
  expect(problemsOf(rules, [line('e-1')])).toEqual([]);
});
