import { expect, test } from 'vitest';
import { postExtraction } from '../../../../lib/cli/post-extraction.ts';

type Answer = Response | Error;

const post = async (...answers: readonly Answer[]) => {
  const queue = [...answers];
  const keys: unknown[] = [];
  const pauses: number[] = [];
  const posted = await postExtraction('https://api.example/extractions', { a: 1 }, 'key-1', {
    fetch: async (_url, init) => {
      keys.push((init.headers as Record<string, string>)['idempotency-key']);
      const next = queue.shift() ?? new Error('more calls than answers');
      if (next instanceof Error) throw next;
      return next;
    },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    onRetry: () => undefined,
  });
  return { posted, keys, pauses };
};

const answer = (status: number, headers = {}): Response => new Response('{}', { status, headers });

test('what may pass is tried again under the same key: no answer, 5xx, 429', async () => {
  const { posted, keys, pauses } = await post(new Error('reset'), answer(503), answer(429), answer(202));
  expect(posted).toMatchObject({ kind: 'answered', status: 202, replayed: false });
  expect(keys).toEqual(['key-1', 'key-1', 'key-1', 'key-1']);
  expect(pauses).toEqual([1_000, 2_000, 4_000]);
});

test.each([400, 403, 413, 422])('%d will not get better, and is not tried again', async (status) => {
  const { posted, keys } = await post(answer(status));
  expect(posted).toMatchObject({ kind: 'answered', status });
  expect(keys).toHaveLength(1);
});

test('a request that came before is told as such', async () => {
  const { posted } = await post(answer(200, { 'idempotency-replayed': 'true' }));
  expect(posted).toMatchObject({ status: 200, replayed: true });
});

test('after five tries it is said that no answer came', async () => {
  const down = new Error('down');
  const { posted, keys } = await post(down, down, down, down, down);
  expect(posted).toEqual({ kind: 'unanswered', cause: down });
  expect(keys).toHaveLength(5);
});
