import { expect, test } from 'vitest';
import { postExtraction } from '../../../../lib/cli/post-extraction.ts';

type Answer = Response | Error;

const post = async (...answers: readonly Answer[]) => {
  const queue = [...answers];
  const keys: unknown[] = [];
  const pauses: number[] = [];
  const result = await postExtraction('https://api.example/extractions', { a: 1 }, 'key-1', {
    fetch: async (_url, init) => {
      keys.push((init.headers as Record<string, string>)['idempotency-key']);
      const next = queue.shift() ?? new Error('more calls than answers');
      if (next instanceof Error) throw next;
      return next;
    },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    onRetry: () => undefined,
  });
  return { result, keys, pauses };
};

const answer = (status: number, headers = {}): Response => new Response('{}', { status, headers });

test('no answer, 5xx and 429 are retried under the same key', async () => {
  const { result, keys, pauses } = await post(new Error('reset'), answer(503), answer(429), answer(202));
  expect(result).toMatchObject({ kind: 'answered', status: 202, replayed: false });
  expect(keys).toEqual(['key-1', 'key-1', 'key-1', 'key-1']);
  expect(pauses).toEqual([1_000, 2_000, 4_000]);
});

test.each([400, 403, 413, 422])('%d is not retried', async (status) => {
  const { result, keys } = await post(answer(status));
  expect(result).toMatchObject({ kind: 'answered', status });
  expect(keys).toHaveLength(1);
});

test('a repeated request is reported as replayed', async () => {
  const { result } = await post(answer(200, { 'idempotency-replayed': 'true' }));
  expect(result).toMatchObject({ status: 200, replayed: true });
});

test('five tries without an answer are reported as unanswered', async () => {
  const down = new Error('down');
  const { result, keys } = await post(down, down, down, down, down);
  expect(result).toEqual({ kind: 'unanswered', cause: down });
  expect(keys).toHaveLength(5);
});
