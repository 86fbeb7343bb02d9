import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DescribeStateMachineCommand, UpdateStateMachineCommand } from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { pausableCalls } from '#lib/shared-item/operator-settings.ts';
import { dynamoBreakers, readHolds } from '../../tools/cli/aws/stores.ts';
import { resumeCalls } from '../../tools/cli/operate/change-holds.ts';
import { eventually } from '../support/eventually.ts';
import { type Authorized, authorized, consentRequest } from './support/authorized-consents.ts';
import { aws } from './support/aws.ts';
import { backdate } from './support/backdate.ts';
import {
  type Body,
  callerArn,
  extract,
  extractWith,
  plannedUsername,
  possiblyAcceptedStartsOf,
  provider,
  requestFor,
  startCallsOf,
  uniqueUsername,
  view,
} from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, inStatus, recordWhere } from './support/records.ts';
import { cosecha } from './support/run-cosecha.ts';
import { endWebhookWait, running } from './support/running-extractions.ts';
import { sweepAllUntilClosed, sweepUntilClosed } from './support/sweep-until-closed.ts';

const breakers = dynamoBreakers(aws.dynamo, inject('cosecha').outputs.BreakersTableName ?? '');

/** What holds calls to the provider now. */
const currentHolds = () => readHolds(breakers, new Date());

/** Lets all calls pass, whatever is stored. */
const letCallsPass = async (): Promise<void> => {
  const deps = { now: () => new Date(), newVersion: randomUUID };
  for (const calls of pausableCalls) await resumeCalls(breakers, calls, deps);
};

// One test after the other, as each changes the provider, or the machine, for all of this deployment.

const startPath = '/api/v2/tasks';

beforeEach(letCallsPass);

afterEach(async () => {
  await provider.setFaults([]);
});

/** In each process, a state is believed for so long (lib/breaker). */
const cacheMs = 5_000;

const requests = 60;
const withinMs = 25_000;

/** The default of `breakerOpenSeconds`, which this deployment has. */
const openMs = 30_000;

test.each([
  // On an idle machine five open the breaker, and one may be under way meanwhile: 6 are UNCONFIRMED.
  ['answer 503', { kind: 'answer', status: 503 }],
  // The first five count after 4 s each (breakerSlowCallSeconds). One comes every 417 ms, so that the breaker opens after
  // 4 × 417 + 4,000 = 5,668 ms, when 14 have begun. Four more may have been admitted and not begun: 18.
  ['hang', { kind: 'silence' }],
] as const)(
  `of ${requests} starts within ${withinMs / 1_000} s at a bank whose starts %s, few end UNCONFIRMED`,
  // Its waits follow one another, each with its own limit. At a load of 20 it takes three minutes.
  { timeout: 900_000, tags: ['slow'] },
  async (what, behaviour) => {
    await provider.setFaults([
      { method: 'POST', path: startPath, behaviours: [behaviour], forSeconds: 3_600 },
    ]);
    const requested = await Promise.all(
      Array.from({ length: requests }, async (_, index) => {
        await delay((index * withinMs) / requests);
        return extract(requestFor(uniqueUsername()));
      }),
    );
    const [hold, ...others] = await eventually(async () => {
      const holds = await currentHolds();
      expect(holds).not.toEqual([]);
      return holds;
    });
    await provider.setFaults([]);
    expect(hold).toMatchObject({ kind: 'open', caller: callerArn, group: 'sandbox-bank' });
    expect(others).toEqual([]);
    // On a slow machine the requests take longer, and meanwhile a start has a turn in which it fails.
    const turns = Math.floor((Date.now() - Date.parse(hold?.since ?? '')) / openMs);

    // The next start that has its turn is accepted.
    await eventually(async () => expect(await currentHolds()).toEqual([]));
    const records = await sweepAllUntilClosed(requested);
    const unconfirmed = records.filter(({ status }) => status === 'UNCONFIRMED');
    console.log(`Starts that ${what}: ${unconfirmed.length} of ${requests} are UNCONFIRMED.`);
    expect(unconfirmed.length).toBeGreaterThan(0);
    // Many start at once on a slow machine, before any of them has failed. After that, only who has a turn does.
    const heldFrom = Date.parse(hold?.since ?? '') + 2 * cacheMs;
    const late = unconfirmed.filter(({ startingAt = '' }) => Date.parse(startingAt) > heldFrom);
    expect(late.length).toBeLessThanOrEqual(turns);
    expect(records.filter(({ status }) => status === 'COMPLETED').length).toBe(requests - unconfirmed.length);
  },
);

test('starts are held while an operator pauses them, and no longer', { tags: ['slow'] }, async () => {
  await cosecha(['pause', '--starts', '--reason', 'maintenance']);
  await delay(cacheMs);
  const username = uniqueUsername();
  const extractionId = await extract(requestFor(username));
  expect((await cosecha(['doctor'])).stdout).toContain('starts have been paused');
  for (const command of ['list', 'health']) {
    expect((await cosecha([command])).stderr).toContain('maintenance');
  }
  expect(await startCallsOf(username)).toEqual([]);
  await cosecha(['resume']);
  expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'COMPLETED' });
});

/** Long enough for requests, starts and reads to fail. No assertion depends on how many do. */
const outageSeconds = 20;

type Requested = { readonly username: string; readonly extractionId: string };

const request = async (username: string, body: Body): Promise<Requested> => ({
  username,
  extractionId: await extract(body, { idempotencyKey: randomUUID() }),
});

const requestBoth = ([username, user]: readonly [string, Authorized]) =>
  Promise.all([request(username, requestFor(username)), request(user.target, consentRequest(user))]);

const finalState = async ({ username, extractionId }: Requested) => ({
  record: await sweepUntilClosed(extractionId),
  starts: await possiblyAcceptedStartsOf(username),
});

/** Three running extractions: one with a webhook, one without, one by consent. */
const startThree = async () => {
  const user = await authorized({ durationMs: 3_000 });
  const [linked, ...others] = await Promise.all([
    running({ webhook: { scheduleMs: [3_000, 6_000, 12_000, 24_000, 60_000] } }),
    extractWith({ durationMs: 3_000, webhook: { enabled: false } }),
    request(user.target, consentRequest(user)),
  ]);
  await Promise.all(others.map((one) => inStatus(one.extractionId, 'RUNNING')));
  await endWebhookWait(others[0].extractionId);
  return { linked, others };
};

test(`a provider outage of ${outageSeconds} s loses no extraction, and all of them settle after it`, async () => {
  // These are refused even if a slow machine starts them after the outage: their start window ends unused.
  const refused = { startForever: { kind: 'answer', status: 429 } } as const;
  const early = [await plannedUsername(refused), await authorized(refused)] as const;
  const late = [uniqueUsername(), await authorized()] as const;
  const { linked, others } = await startThree();
  // Ended now, delivered during the outage, in which nothing can be read.
  await provider.finish(linked.taskId);
  await provider.goDown(outageSeconds);
  // Until the provider refuses connections. A machine that hangs for the whole outage may miss that.
  const isDown = () => expect(provider.summary()).rejects.toThrow();
  await vi.waitFor(isDown, { timeout: outageSeconds * 1_000 }).catch(() => undefined);
  const withEndedWindow = await requestBoth(early);
  for (const { extractionId } of withEndedWindow) await backdate(extractionId, 'requestedAt');
  const withOpenWindow = await requestBoth(late);

  const settled = await recordWhere(
    linked.extractionId,
    'settled',
    ({ settledAt }) => settledAt !== undefined,
  );
  expect(settled).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  await eventually(() => provider.summary());

  for (const one of [linked, ...others, ...withOpenWindow]) {
    const { record, starts } = await finalState(one);
    expect(record).toMatchObject({ status: 'COMPLETED' });
    expect(starts).toMatchObject([{ status: 200 }]);
    expect((await view(one.extractionId)).results?.bytes).toBeGreaterThan(0);
  }
  for (const one of withEndedWindow) {
    const { record, starts } = await finalState(one);
    expect(record).toMatchObject({ status: 'NOT_STARTED' });
    expect(starts).toEqual([]);
  }
});

const stateMachineArn = inject('cosecha').outputs.StateMachineArn ?? '';

/** Sets how long executions that start from now on wait for the webhook. Running ones keep their definition. */
const setWebhookWait = async (definition: string, seconds: number): Promise<void> => {
  const machine = JSON.parse(definition) as { States: { StartTask: { TimeoutSeconds: number } } };
  machine.States.StartTask.TimeoutSeconds = seconds;
  await aws.stepFunctions.send(
    new UpdateStateMachineCommand({ stateMachineArn, definition: JSON.stringify(machine) }),
  );
};

/** In seconds. If the wait ends before start-task has started the task, it is not started. A slow machine needs longer. */
const waits = [10, 40, 160];

test('the machine polls when no webhook arrives within its wait', {
  timeout: 900_000,
  tags: ['slow'],
}, async ({ onTestFinished }) => {
  const { definition = '' } = await aws.stepFunctions.send(
    new DescribeStateMachineCommand({ stateMachineArn }),
  );
  onTestFinished(async () => {
    await aws.stepFunctions.send(new UpdateStateMachineCommand({ stateMachineArn, definition }));
  });
  for (const seconds of waits) {
    await setWebhookWait(definition, seconds);
    const { extractionId } = await extractWith({ webhook: { enabled: false } });
    const record = await closed(extractionId);
    if (record.status === 'NOT_STARTED') continue;
    expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
    const history = await historyOf(extractionId);
    const failures = history.flatMap(({ taskFailedEventDetails, taskTimedOutEventDetails }) => [
      ...(taskFailedEventDetails === undefined ? [] : [taskFailedEventDetails.error]),
      ...(taskTimedOutEventDetails === undefined ? [] : [taskTimedOutEventDetails.error]),
    ]);
    // What the outages before it taught of the provider's rate may let it wait in line first, which is no failure.
    expect(failures.find((error) => error !== 'Waits')).toBe('States.Timeout');
    expect(transitionsIn(history)).toBe(2);
    return;
  }
  throw new Error('No task was started before the wait for its webhook ended.');
});
