import { afterEach, describe, expect, test } from 'vitest';
import type { Call } from '../sandbox/state.ts';
import { breakerState, withBreakers } from './support/breaker.ts';
import { eventually } from './support/eventually.ts';
import { extract, plannedUsername, provider, requestFor, uniqueUsername } from './support/extractions.ts';
import { cosecha } from './support/operator.ts';
import { sweepUntilClosed } from './support/sweep.ts';

const startPath = '/api/v2/tasks';

/** Short pauses, so that an outage has several probes. */
const settings = { failures: 5, windowSeconds: 30, openSeconds: 5, maxOpenSeconds: 5, probeSeconds: 130 };

/** For how long after the opening a process may still trust what it read before: its cache and its way to the call. */
const staleMs = 5_000 + 15_000;

const request = async () => {
  const username = await plannedUsername({ durationMs: 300 });
  return { username, extractionId: await extract(requestFor(username)) };
};

const requestMany = (count: number) => Promise.all(Array.from({ length: count }, request));

/** The start calls of these extractions that the provider received. */
const startsOf = async (ones: readonly { readonly username: string }[]): Promise<readonly Call[]> => {
  const usernames = new Set(ones.map(({ username }) => username));
  return (await provider.calls({ path: startPath })).filter(({ username = '' }) => usernames.has(username));
};

/** The calls to start that came from `since` on, whoever they are from: a fault answers before the username is known. */
const startCallsFrom = async (since: number): Promise<readonly number[]> =>
  (await provider.calls({ path: startPath })).map(({ at }) => Date.parse(at)).filter((at) => at >= since);

const openedAt = () =>
  eventually(async () => {
    const { opened } = await breakerState('starts');
    expect(opened).toBeDefined();
    return opened?.since ?? 0;
  });

const countOf = (statuses: readonly string[], status: string): number =>
  statuses.filter((one) => one === status).length;

afterEach(async () => {
  await provider.setFaults([]).catch(() => undefined);
});

// One after the other, as they change the provider for all.
describe('calls to start are held', { concurrent: false }, () => {
  test.each([
    ['answers 503', { kind: 'answer', status: 503 } as const, 2],
    // A probe that hangs takes 8 s.
    ['hangs', { kind: 'silence' } as const, 1],
  ])(
    'while the provider %s: few extractions are UNCONFIRMED, and the others complete',
    async (_, behaviour, probesToSee) => {
      await withBreakers(settings, async () => {
        const from = Date.now();
        await provider.setFaults([
          { method: 'POST', path: startPath, behaviours: [behaviour], forSeconds: 3_600 },
        ]);
        const first = await requestMany(8);
        const opened = await openedAt();
        const held = await requestMany(24);
        await eventually(async () =>
          expect((await startCallsFrom(opened + staleMs)).length).toBeGreaterThanOrEqual(probesToSee),
        );
        const calls = await startCallsFrom(from);
        await provider.setFaults([]);

        const records = await Promise.all(
          [...first, ...held].map(({ extractionId }) => sweepUntilClosed(extractionId)),
        );
        const statuses = records.map(({ status }) => status);
        const unconfirmed = countOf(statuses, 'UNCONFIRMED');
        const probes = calls.filter((at) => at >= opened + staleMs);
        const late = calls.length - first.length - probes.length;
        // Those of the first eight are the threshold and what was under way. One more probe may end with the outage.
        expect(unconfirmed).toBeLessThanOrEqual(first.length + Math.max(0, late) + probes.length + 1);
        expect(unconfirmed + countOf(statuses, 'COMPLETED')).toBe(statuses.length);
        expect((await startsOf([...first, ...held])).length).toBeLessThanOrEqual(statuses.length);
        const gaps = probes.slice(1).map((at, index) => at - (probes[index] ?? 0));
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(settings.openSeconds * 1_000);
      });
    },
  );

  test('while the provider refuses connections: none is UNCONFIRMED, and all complete', async () => {
    await withBreakers(settings, async () => {
      await provider.goDown(15);
      const requested = Promise.all(Array.from({ length: 8 }, () => extract(requestFor(uniqueUsername()))));
      await openedAt();
      for (const id of await requested)
        expect(await sweepUntilClosed(id)).toMatchObject({ status: 'COMPLETED' });
    });
  });

  test('while an operator pauses starts, and no longer', async () => {
    await cosecha(['pause', '--starts', '--reason', 'maintenance']);
    const { username, extractionId } = await request();
    expect((await cosecha(['doctor'])).stdout).toContain('starts are paused');
    expect((await cosecha(['list'])).stderr).toContain('maintenance');
    expect(await startsOf([{ username }])).toEqual([]);
    await cosecha(['resume']);
    expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  });
});
