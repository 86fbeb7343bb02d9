import assert from 'node:assert/strict';
import fc from 'fast-check';
import { signatureHeader } from '../../support/data/signature-header.ts';
import { fuzzProperty } from '../property.ts';
import { assertAnswer } from './webhook-answers.ts';
import { webhookWorld } from './webhook-world.ts';

type Step =
  | { readonly kind: 'wait'; readonly seconds: number }
  /** The secret gets a new key; the one it had stays as the previous one. */
  | { readonly kind: 'rotate' }
  /** The label of the previous key is dropped. */
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'secret'; readonly up: boolean }
  /** A delivery under a key of this age: 0 the newest, 1 the one before, and so on; -1 a key that never was. */
  | { readonly kind: 'deliver'; readonly age: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('deliver' as const), age: fc.integer({ min: -1, max: 3 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        seconds: fc.constantFrom(1, 14, 15, 16, 30, 299, 300, 301),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: 'rotate' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'withdraw' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('secret' as const), up: fc.boolean() }) },
  ),
  { minLength: 3, maxLength: 25 },
);

const start = Date.parse('2026-03-01T12:00:00.000Z');
const body = JSON.stringify({ taskId: 'task-0', taskStatus: 'COMPLETED' });

export const keyRotation = fuzzProperty({
  name: 'webhook/key-rotation',
  claim:
    'through rotations, withdrawals and outages of the secret, an active key is accepted within 15 s, a withdrawn one for at most 5 minutes, and an unknown one never, which is answered 500 while the secret cannot be read, and 401 otherwise; the secret is read at most every 15 s',
  weight: 7,
  expected: { accepted: 0.3, 'accepted right after a rotation': 0.05, refused: 0.3, withdrawn: 0.1 },
  cases: steps,
  check: async (steps, see) => {
    const made = ['key 0'];
    let labels: readonly string[] = ['key 0'];
    let up = true;
    let seconds = 0;
    const fetches: { readonly at: number; readonly succeeded: boolean; readonly found: readonly string[] }[] =
      [];
    /** When each key was last in the secret. */
    const lastActive = new Map<string, number>();
    const labelled = new Set<string>();

    const world = webhookWorld(
      { keys: [], extractions: [], tasks: [], wake: 'woken' },
      {
        now: () => new Date(start + seconds * 1000),
        fetchKeys: async () => {
          fetches.push({ at: seconds, succeeded: up, found: labels });
          if (!up) throw new Error('down');
          return labels;
        },
      },
    );
    const deliver = async (key: string): Promise<void> => {
      const asked = fetches.length;
      const answer = await world.deliver({
        body,
        isBase64Encoded: false,
        headers: { 'x-service-signature': signatureHeader(Buffer.from(body), key) },
      });
      const { statusCode } = answer;
      const news = fetches.slice(asked);
      assertAnswer(answer, 204, 401, 500);
      // Only while the keys are not known to be current.
      if (statusCode !== 204) assert.equal(statusCode === 500, fetches.at(-1)?.succeeded !== true);

      const active = labels.includes(key);
      const lastFetch = fetches.at(-1);
      if (lastFetch?.succeeded === true && lastFetch.found.includes(key) && seconds - lastFetch.at < 300) {
        assert.equal(statusCode, 204, 'a key is refused that the secret was last read with');
      }
      if (active && statusCode === 401) {
        assert.ok(lastFetch !== undefined && seconds - lastFetch.at < 15, 'the secret was not read');
      }
      if (!active && statusCode === 204) {
        // Withdrawn, and still known. Not after five minutes in which the secret could be read.
        const since = seconds - (lastActive.get(key) ?? Number.NEGATIVE_INFINITY);
        const outage = fetches.some(({ at, succeeded }) => !succeeded && at >= (lastActive.get(key) ?? 0));
        assert.ok(labelled.has(key), 'a key that never was in the secret is accepted');
        assert.ok(since <= 300 || outage, `a key is accepted ${since} s after it was withdrawn`);
        see('withdrawn');
      }
      if (statusCode === 204)
        see(news.length > 0 && asked > 0 ? 'accepted right after a rotation' : 'accepted');
      else see(statusCode === 401 ? 'refused' : 'outage');
    };

    for (const step of steps) {
      for (const key of labels) {
        lastActive.set(key, seconds);
        labelled.add(key);
      }
      if (step.kind === 'wait') seconds += step.seconds;
      if (step.kind === 'secret') up = step.up;
      if (step.kind === 'withdraw') labels = labels.slice(0, 1);
      if (step.kind === 'rotate') {
        made.push(`key ${made.length}`);
        labels = [made.at(-1) ?? '', labels[0] ?? ''];
      }
      if (step.kind === 'deliver') await deliver(step.age < 0 ? 'key' : (made.at(-1 - step.age) ?? 'key'));
    }
    // Asked at most every 15 s, but for the first time, which has to be repeated until it succeeds.
    const first = fetches.findIndex(({ succeeded }) => succeeded);
    for (const [index, { at }] of fetches.entries()) {
      const before = fetches[index - 1];
      if (first !== -1 && index > first && before !== undefined) {
        assert.ok(at - before.at >= 15, `asked again after ${at - before.at} s`);
      }
    }
  },
});
