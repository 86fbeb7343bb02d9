import { describe, expect, test } from 'vitest';
import { buildRequest, type StartOptions } from '../../../../lib/cli/build-request.ts';
import { CliError, UsageError } from '../../../../lib/cli/errors.ts';
import { parseExtractionRequest } from '../../../../lib/extraction/api/parse-request.ts';

const texts: Record<string, string> = {
  '-': '{"username":"u","password":"p"}',
  'whole.json': '{"anything":1}',
  'persisted.json': '{"mode":"persisted","value":"abc"}',
  'long.json': '{"username":"u","pin":[12345678901234567890]}',
  'broken.json': '{"password": "sentinel',
  id: ' 11.111.111-1\n',
};
const build = (options: StartOptions) => buildRequest(options, async (path) => texts[path] ?? '');

describe('the request that the flags stand for', () => {
  test('by credentials, read from standard input, is one that the API takes', async () => {
    const request = await build({
      entity: 'bank',
      action: ['product-balance'],
      movementFrom: '2026-01-01',
      movementTo: '2026-01-31',
      reference: 'mine',
    });
    expect(request).toEqual({
      entity: 'bank',
      credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
      actions: [
        { id: 'product-balance' },
        { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
      ],
      reference: 'mine',
    });
    expect(parseExtractionRequest(request).kind).toBe('valid');
  });

  test('by credentials that say their mode takes them as they are', async () => {
    expect(await build({ entity: 'bank', action: ['tef'], credentials: 'persisted.json' })).toMatchObject({
      credentials: { mode: 'persisted', value: 'abc' },
    });
  });

  test('by consent reads whose it is, and is one that the API takes', async () => {
    const consent = '0190a0b0-0000-4000-8000-00000000000c';
    const request = await build({ consent, product: 'movement', target: 'id', variant: 'v2' });
    expect(request).toEqual({
      ...{ method: 'consent', product: 'movement', consentId: consent },
      ...{ target: '11.111.111-1', variant: 'v2' },
    });
    expect(parseExtractionRequest(request).kind).toBe('valid');
  });

  test('is the file, as it is', async () => {
    expect(await build({ file: 'whole.json' })).toEqual({ anything: 1 });
  });
});

describe('flags that make no request', () => {
  test.each<[StartOptions, RegExp]>([
    [{}, /Start what/],
    [{ file: 'whole.json', entity: 'bank' }, /--entity does not go with it/],
    [{ file: 'whole.json', reference: 'r' }, /--reference does not go with it/],
    [{ entity: 'bank', consent: 'c', product: 'movement' }, /choose one/],
    [{ consent: 'c' }, /needs --consent and --product/],
    [{ entity: 'bank' }, /Extract what/],
    [{ entity: 'bank', movementFrom: '2026-01-01' }, /go together/],
  ])('%j are refused with a sentence', async (options, sentence) => {
    const failure = await build(options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(sentence);
  });

  test.each<[StartOptions, string]>([
    [{ entity: 'bank', action: ['tef'], credentials: 'long.json' }, 'The credentials'],
    [{ file: 'long.json' }, 'The request'],
  ])('never have a number changed on its way: %j', async (options, what) => {
    const failure = await build(options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CliError);
    expect((failure as Error).message).toBe(
      `${what} must not have a number that changes when it is read, as at /pin/0 does: give it as a string.`,
    );
  });

  test('never have credentials quoted that are not JSON', async () => {
    const failure = await build({ entity: 'bank', action: ['tef'], credentials: 'broken.json' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(CliError);
    expect((failure as Error).message).toBe('The credentials must be given as JSON.');
    expect((failure as Error).cause).toBeUndefined();
  });
});
