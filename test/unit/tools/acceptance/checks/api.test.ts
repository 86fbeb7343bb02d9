import { expect, test } from 'vitest';
import { acceptApi } from '../../../../../tools/acceptance/checks/api.ts';

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
