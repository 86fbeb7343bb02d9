import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fingerprint } from '../../../../lib/extraction/fingerprint.ts';
import type { ExtractionRequest } from '../../../../lib/extraction/parse-request.ts';

const movement = (startDate: string) => ({
  id: 'movement',
  params: { dateRange: { startDate, endDate: '2026-02-28' } },
});

const request: ExtractionRequest = {
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
  actions: [{ id: 'product-balance' }, movement('2026-01-01')],
  reference: 'mine',
};

const of = (changes: Partial<ExtractionRequest>) => fingerprint({ ...request, ...changes }, 'secret');
const without = ({ reference: _reference, ...rest }: ExtractionRequest): ExtractionRequest => rest;

test('it is the HMAC of the request with its keys sorted', () => {
  const text =
    '{"actions":[{"id":"tef"}],"credentials":{"mode":"raw","value":{"a":1,"b":2}},' +
    '"entity":"bank","method":"credentials"}';
  const given: ExtractionRequest = {
    entity: 'bank',
    credentials: { value: { b: 2, a: 1 }, mode: 'raw' },
    actions: [{ id: 'tef' }],
  };
  expect(fingerprint(given, 'secret')).toBe(createHmac('sha256', 'secret').update(text).digest('hex'));
});

test('two spellings of one request agree', () => {
  const other: ExtractionRequest = {
    reference: 'mine',
    actions: [
      { id: 'product-balance' },
      { params: { dateRange: { endDate: '2026-02-28', startDate: '2026-01-01' } }, id: 'movement' },
    ],
    credentials: { value: { password: 'p', username: 'u' }, mode: 'raw' },
    entity: 'bank',
  };
  expect(fingerprint(other, 'secret')).toBe(of({}));
});

test('another secret gives another fingerprint', () => {
  expect(fingerprint(request, 'another')).not.toBe(of({}));
});

describe('it tells apart', () => {
  test.each<readonly [string, string]>([
    ['another entity', of({ entity: 'other' })],
    ['another password', of({ credentials: { mode: 'raw', value: { username: 'u', password: 'q' } } })],
    ['one more field', of({ credentials: { mode: 'raw', value: { username: 'u', password: 'p', x: 1 } } })],
    ['another mode', of({ credentials: { mode: 'persisted', value: 'p' } })],
    ['another order of actions', of({ actions: [...request.actions].reverse() })],
    ['one action less', of({ actions: [{ id: 'product-balance' }] })],
    ['another date', of({ actions: [{ id: 'product-balance' }, movement('2026-01-02')] })],
    ['another reference', of({ reference: 'yours' })],
    ['no reference', fingerprint(without(request), 'secret')],
  ])('%s', (_what, other) => {
    expect(other).not.toBe(of({}));
  });

  test('one persisted ciphertext from another', () => {
    expect(of({ credentials: { mode: 'persisted', value: 'a' } })).not.toBe(
      of({ credentials: { mode: 'persisted', value: 'b' } }),
    );
  });
});

test('encrypted credentials and session tokens are left out: they differ at every honest retry', () => {
  const first = of({ credentials: { mode: 'encrypted', value: 'a-b' }, sessionToken: 's1' });
  expect(of({ credentials: { mode: 'encrypted', value: 'c-d' }, sessionToken: 's2' })).toBe(first);
  expect(of({ credentials: { mode: 'encrypted', value: 'c-d' }, sessionToken: 's2', entity: 'x' })).not.toBe(
    first,
  );
});

test('it holds nothing of the credentials', () => {
  expect(of({})).toMatch(/^[0-9a-f]{64}$/);
});
