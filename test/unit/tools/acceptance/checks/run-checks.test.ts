import { expect, test, vi } from 'vitest';
import { denied } from '#support/browser/console-fixtures.ts';
import {
  type AcceptContext,
  type Check,
  type CheckResult,
  failed,
  passed,
  Unmet,
} from '#tools/acceptance/checks/check.ts';
import { runChecks } from '#tools/acceptance/checks/run-checks.ts';
import { type Cases, updateInPlace } from '#tools/acceptance/checks/update-in-place.ts';

const shared = (isMiniStack = false) =>
  ({ deployment: { isMiniStack }, now: () => new Date() }) as unknown as AcceptContext;

const check = (id: string, run: Check['run'], more: Partial<Check> = {}): Check => ({
  id,
  title: id,
  run,
  ...more,
});

const never = (): Promise<CheckResult> => new Promise(() => {});

const runAll = (checks: readonly Check[], options: { isMiniStack?: boolean; stop?: AbortSignal } = {}) =>
  runChecks(
    checks,
    shared(options.isMiniStack),
    { onEnd: () => {}, onWait: () => {} },
    options.stop ?? new AbortController().signal,
  );

test('checks of the turn together run at the same time, and reports are in the order of the checks', async () => {
  const second = Promise.withResolvers<void>();
  const reports = await runAll([
    check('first', () => second.promise.then(() => passed('after the second'))),
    check('second', async () => {
      second.resolve();
      return passed('at once');
    }),
  ]);
  expect(reports.map(({ id, kind }) => `${id} ${kind}`)).toEqual(['first passed', 'second passed']);
});

test('checks of the turn alone run one after another, after the others and before the last', async () => {
  const log: string[] = [];
  const turns = { c: 'last', a: 'alone', b: 'alone', t: 'together' } as const;
  const logging = Object.entries(turns).map(([id, turn]) => {
    const run = async () => {
      log.push(id);
      await Promise.resolve();
      log.push(`${id} ends`);
      return passed('');
    };
    return check(id, run, { turn });
  });
  await runAll(logging);
  expect(log.filter((line) => !line.endsWith('ends'))).toEqual(['t', 'a', 'b', 'c']);
  expect(log.indexOf('a ends')).toBeLessThan(log.indexOf('b'));
});

test('a check that hangs fails when its time is over, with what it waited for', async () => {
  const hang: Check['run'] = ({ waitFor }) => {
    waitFor('a webhook');
    return never();
  };
  const explanation = 'It was not done within its 0.01 s while it waited for a webhook.';
  expect(await runAll([check('hanging', hang, { seconds: () => 0.01 })])).toMatchObject([
    { kind: 'failed', explanation },
  ]);
});

test('a thrown error is the failure of its check, and the others still run', async () => {
  const reports = await runAll([
    check('unmet', () => Promise.reject(new Unmet('It is FAILED.'))),
    check('denied', () => denied('kms:Decrypt')),
    check('fine', async () => passed('yes')),
  ]);
  expect(reports.map(({ kind, explanation }) => [kind, explanation])).toEqual([
    ['failed', 'It is FAILED.'],
    ['failed', expect.stringMatching(/^AWS does not allow .* to kms:Decrypt/)],
    ['passed', 'yes'],
  ]);
});

test('a check that MiniStack cannot answer is skipped there by name, and runs on AWS and on any other emulator', async () => {
  const real = check('real', async () => passed('on AWS'), { notOnEmulator: 'it has no metrics' });
  expect(await runAll([real], { isMiniStack: true })).toMatchObject([
    { kind: 'skipped', explanation: 'emulator: it has no metrics' },
  ]);
  expect(await runAll([real])).toMatchObject([{ kind: 'passed', explanation: 'on AWS' }]);
});

test('a stop ends the running checks and starts no others', async () => {
  const stop = new AbortController();
  const one = check('one', () => {
    stop.abort();
    return never();
  });
  const started = vi.fn(async () => passed(''));
  const reports = await runAll([one, check('two', started, { turn: 'alone' })], { stop: stop.signal });
  expect(reports.map(({ id, kind }) => `${id} ${kind}`)).toEqual(['one failed', 'two failed']);
  expect(started).not.toHaveBeenCalled();
});

test('a check that depends on a failed one ends at once, and so does one that has not begun', async () => {
  const reports = await runAll([
    check('link', async () => failed('The link is broken.')),
    check('waits', never, { dependsOn: 'link' }),
    check('later', async () => passed('not reached'), { dependsOn: 'link', turn: 'alone' }),
    check('other', async () => passed('it needs no link')),
    check('alone', async () => passed('its link was not checked'), { dependsOn: 'unchecked' }),
  ]);
  expect(reports.map(({ id, kind, explanation }) => [id, kind, explanation])).toEqual([
    ['link', 'failed', 'The link is broken.'],
    ['waits', 'skipped', 'depends on link, which failed'],
    ['later', 'skipped', 'depends on link, which failed'],
    ['other', 'passed', 'it needs no link'],
    ['alone', 'passed', 'its link was not checked'],
  ]);
});

type One = { readonly extractionId: string; readonly goOn?: () => Promise<unknown> };

type Ended = Parameters<typeof updateInPlace>[0]['closed'];

/** Updates a stack with one extraction in this state, which ends with this record. Returns the steps. */
const update = async (cases: Cases<One>, ended: Ended) => {
  const steps: string[] = [];
  await updateInPlace<One>({
    cases,
    closed: ended,
    waitFor: (what) => steps.push(what),
    sleep: async () => {},
    briefCases: {
      'starting, with a slow call': async () => {
        steps.push('slow call');
        return { extractionId: 'brief', goOn: async () => steps.push('goes on') };
      },
    },
    request: async () => ({ extractionId: 'meanwhile' }),
    update: async (beforeUpdate) => {
      await beforeUpdate();
      steps.push('update');
    },
  });
  return steps;
};

const bring = async () => ({ extractionId: 'e-1' });
const completed = { status: 'COMPLETED', collectedAt: '2026-05-04T10:20:30Z', settledBy: 'webhook' } as const;

test('brief states come just before the update, and all go on after it', async () => {
  const steps = await update({ 'waiting for the webhook': bring }, async () => completed);
  expect(steps).toEqual([
    'extractions to be in their states',
    'the update, under requests',
    'slow call',
    'update',
    'all extractions to end',
    'goes on',
  ]);
});

test('an extraction that ends otherwise than its state demands fails the update', async () => {
  await expect(update({ 'polled by the machine': bring }, async () => completed)).rejects.toThrow(
    'e-1 (polled by the machine) ended as COMPLETED, by webhook.',
  );
});

test('an update may interrupt no start, also none that was requested meanwhile', async () => {
  const ended = async () => ({ status: 'UNCONFIRMED', settledBy: 'start' }) as const;
  await expect(update({}, ended)).rejects.toThrow(
    'brief (starting, with a slow call) ended as UNCONFIRMED, by start.\nmeanwhile (requested meanwhile)',
  );
});
