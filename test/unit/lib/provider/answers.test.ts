import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Connection,
  logIn,
  ProviderAmbiguous,
  ProviderBusy,
  ProviderError,
  retryAtOfStatus,
  UnexpectedTaskResults,
} from '#lib/provider/index.ts';
import { answering } from '../../../support/data/canned-connection.ts';
import { errorText } from '../../../support/data/text-of-error.ts';
import { bearer, everyCall, secret } from './every-call.ts';

test('a call returns what the provider answers, and throws a named error for all else', async () => {
  const answers = [
    new Response('{"token":"session"}'),
    new Response('<html>'),
    new Response('', { status: 429, headers: { 'Retry-After': '60' } }),
  ];
  const connection: Connection = {
    baseUrl: 'https://provider.example',
    fetch: async () => answers.shift() ?? Response.error(),
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  expect(await logIn(connection, 'api-key')).toBe('session');
  await expect(logIn(connection, 'api-key')).rejects.toThrow(ProviderAmbiguous);
  const busy: unknown = await logIn(connection, 'api-key').catch((error) => error);
  expect(busy).toBeInstanceOf(ProviderBusy);
  expect(retryAtOfStatus(busy, [429], new Date(0))).toBe(60_000);
});

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Every place in a JSON value, with what is there. */
const places = (
  value: unknown,
  path: readonly (string | number)[] = [],
): (readonly (string | number)[])[] => {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...inner.flatMap(([key, item]) => places(item, [...path, key]))];
};

const replaced = (value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown => {
  if (key === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value)
    ? (value.slice() as unknown as Record<string, unknown>)
    : { ...(value as Record<string, unknown>) };
  copy[key] = replaced(copy[key], rest, by);
  return copy;
};

const at = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);

/** What the document gives no type: product data, and what is inside an action's output. */
const isFree = (path: readonly (string | number)[]): boolean => {
  const text = path.join('.');
  return /^(results|data|results\.data)\.\d+(\.|$)/.test(text) || /\.output\./.test(text);
};

const wrongFor = (value: unknown): unknown => (typeof value === 'string' ? 7 : secret);

describe.each(everyCall)('$request', ({ call, request, header = bearer, body, status = 200, answer }) => {
  const answered = (text: string) => answering(() => ({ status, body: text }));

  test('is called as the document says', async () => {
    const { connection, calls } = answered(JSON.stringify(answer));
    await call(connection);
    expect(calls).toHaveLength(1);
    const [{ url = '', method, headers, body: sent } = {}] = calls;
    expect(`${method} ${url.replace('https://provider.example', '')}`).toBe(request);
    expect(headers).toMatchObject({ [header[0]]: header[1] });
    expect(sent === undefined ? undefined : JSON.parse(sent)).toEqual(body);
  });

  test('takes fields that the document does not show', async () => {
    const withMore = Array.isArray(answer)
      ? answer.map((item) => ({ ...item, more: secret }))
      : { ...(answer as object), more: secret };
    await call(answered(JSON.stringify(withMore)).connection);
  });

  test('ends an answer with a wrong type in any field with a named error', async () => {
    for (const place of places(answer).filter((path) => !isFree(path))) {
      const wrong = replaced(answer, place, wrongFor(at(answer, place)));
      const failure = await failureOf(call(answered(JSON.stringify(wrong)).connection));
      const isNamed = failure instanceof ProviderAmbiguous || failure instanceof UnexpectedTaskResults;
      expect(isNamed, place.join('.')).toBe(true);
      expect(errorText(failure)).not.toContain(secret);
    }
  });

  test.each([
    ['HTML', `<!doctype html><title>${secret}</title>`],
    ['nothing', ''],
    ['null', 'null'],
    ['another object', JSON.stringify({ [secret]: secret })],
    ['nothing but brackets', '['.repeat(50_000)],
  ])('ends an answer of %s with a named error that does not quote it', async (_what, text) => {
    const failure = await failureOf(call(answered(text).connection));
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(errorText(failure)).not.toContain(secret);
    expect((failure as Error).cause).toBeUndefined();
  });

  test('never does anything but answer or throw a ProviderError, whatever the status and the body', async () => {
    const anyBody = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      // Near the real answer: one place holds anything.
      fc
        .tuple(fc.constantFrom(...places(answer)), fc.jsonValue())
        .map(([place, value]) => JSON.stringify(replaced(answer, place, value))),
    );
    const anyStatus = fc.oneof(fc.constantFrom(200, 202), fc.integer({ min: 200, max: 599 }));
    await fc.assert(
      fc.asyncProperty(anyStatus, anyBody, async (anyCode, text) => {
        const { connection } = answering(() => ({ status: anyCode, body: text }));
        const failure = await failureOf(call(connection));
        if (failure !== undefined) expect(failure).toBeInstanceOf(ProviderError);
      }),
      { numRuns: 150 },
    );
  });
});

test('an empty session token is none', async () => {
  const { connection } = answering(() => ({ body: '{"token":""}' }));
  expect(await failureOf(logIn(connection, 'key'))).toBeInstanceOf(ProviderAmbiguous);
});
