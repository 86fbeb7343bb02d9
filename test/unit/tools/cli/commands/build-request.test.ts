import { describe, expect, test } from 'vitest';
import { parseExtractionRequest } from '../../../../../lib/extraction/api/parse-request.ts';
import { buildRequest, type StartOptions } from '../../../../../tools/cli/commands/build-request.ts';
import { CliError, UsageError } from '../../../../../tools/cli/terminal/errors.ts';

const texts: Record<string, string> = {
  '-': '{"username":"u","password":"p"}',
  'whole.json': '{"anything":1}',
  'persisted.json': '{"mode":"persisted","value":"abc"}',
  'long.json': '{"username":"u","pin":[12345678901234567890]}',
  'broken.json': '{"password": "sentinel',
  id: ' 11.111.111-1\n',
};
/** As the API parses it. */
const parse = (request: unknown) => parseExtractionRequest(JSON.parse(JSON.stringify(request)));

const build = (options: StartOptions) => buildRequest(options, async (path) => texts[path] ?? '');

describe('the request', () => {
  test('by credentials from standard input is accepted by the API', async () => {
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
    expect(parse(request).kind).toBe('valid');
  });

  test('by credentials with a mode has them unchanged', async () => {
    expect(await build({ entity: 'bank', action: ['tef'], credentials: 'persisted.json' })).toMatchObject({
      credentials: { mode: 'persisted', value: 'abc' },
    });
  });

  test('by consent with a national id from a file is accepted by the API', async () => {
    const consent = '0190a0b0-0000-4000-8000-00000000000c';
    const request = await build({ consent, product: 'movement', target: 'id', variant: 'v2' });
    expect(request).toEqual({
      method: 'consent',
      product: 'movement',
      consentId: consent,
      target: '11.111.111-1',
      variant: 'v2',
    });
    expect(parse(request).kind).toBe('valid');
  });

  test('is the file of --file, unchanged', async () => {
    expect(await build({ file: 'whole.json' })).toEqual({ anything: 1 });
  });
});

describe('options that make no request', () => {
  test.each<[StartOptions, RegExp]>([
    [{}, /Name what to extract/],
    [{ file: 'whole.json', entity: 'bank' }, /--entity cannot be used with it/],
    [{ file: 'whole.json', reference: 'r' }, /--reference cannot be used with it/],
    [{ entity: 'bank', consent: 'c', product: 'movement' }, /Use one of them/],
    [{ consent: 'c' }, /needs --consent and --product/],
    [{ entity: 'bank' }, /Name an action/],
    [{ entity: 'bank', movementFrom: '2026-01-01' }, /together/],
  ])('%j are a usage error', async (options, sentence) => {
    const failure = await build(options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(sentence);
  });

  test.each<[StartOptions, string]>([
    [{ entity: 'bank', action: ['tef'], credentials: 'long.json' }, 'credentials'],
    [{ file: 'long.json' }, 'request'],
  ])('%j are refused for a number that would change', async (options, content) => {
    const failure = await build(options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CliError);
    expect((failure as Error).message).toBe(
      `The number at /pin/0 of the ${content} would change as a 64-bit float. Write it as a string.`,
    );
  });

  test('credentials that are not JSON are never quoted', async () => {
    const failure = await build({ entity: 'bank', action: ['tef'], credentials: 'broken.json' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(CliError);
    expect((failure as Error).message).toBe('The credentials must be JSON.');
    expect((failure as Error).cause).toBeUndefined();
  });
});
