import { describe, expect, test } from 'vitest';
import { parseExtractionRequest } from '../../../../../lib/extraction/api/parse-request.ts';
import type { Violation } from '../../../../../lib/http/violation.ts';

const dateRange = { startDate: '2026-01-01', endDate: '2026-01-31' };
const valid = {
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p', businessId: '7' } },
  actions: [{ id: 'product-balance' }, { id: 'movement', params: { dateRange } }, { id: 'tef' }],
  reference: 'mine',
};
const encrypted = { ...valid, credentials: { mode: 'encrypted', value: 'a-b' }, sessionToken: 'st' };

const violationsOf = (body: unknown): readonly Violation[] => {
  const parsed = parseExtractionRequest(body);
  return parsed.kind === 'invalid' ? parsed.violations : [];
};
const pointersOf = (body: unknown): readonly string[] => violationsOf(body).map(({ pointer }) => pointer);
const movementIn = (range: unknown) => ({
  ...valid,
  actions: [{ id: 'movement', params: { dateRange: range } }],
});
const rawIn = (value: unknown) => ({ ...valid, credentials: { mode: 'raw', value } });

const byConsent = {
  method: 'consent',
  product: 'movement',
  consentId: '0190a0b0-0000-4000-8000-00000000000c',
  target: '11.111.111-1',
  variant: 'v2',
  reference: 'mine',
};

test('a request by consent has the variant v1 by default', () => {
  const { variant: _variant, ...body } = byConsent;
  expect(parseExtractionRequest(body)).toEqual({ kind: 'valid', request: { ...body, variant: 'v1' } });
});

describe('each violation of a request by consent has its pointer', () => {
  test.each<readonly [string, unknown, string]>([
    ['no product', { ...byConsent, product: undefined }, '/product'],
    ['a product that is not documented', { ...byConsent, product: 'horoscope' }, '/product'],
    ['a consentId that is no UUID', { ...byConsent, consentId: 'c-1' }, '/consentId'],
    ['no target', { ...byConsent, target: undefined }, '/target'],
    ['a target with a wrong check digit', { ...byConsent, target: '11111111-2' }, '/target'],
    ['an unknown variant', { ...byConsent, variant: 'v3' }, '/variant'],
    ['a field of the other method', { ...byConsent, entity: 'bank' }, '/entity'],
    ['a webhook, of which there is none', { ...byConsent, webhook: { enable: true } }, '/webhook'],
    ['a method that there is not', { ...byConsent, method: 'magic' }, '/method'],
    ['fields of a consent without its method', { ...valid, target: '11111111-1' }, '/target'],
  ])('%s', (_what, body, pointer) => {
    expect(pointersOf(JSON.parse(JSON.stringify(body)))).toEqual([pointer]);
  });

  test('a list of products is refused with the hint to send one request for each', () => {
    expect(violationsOf({ ...byConsent, product: ['movement', 'tef'] })).toEqual([
      { pointer: '/product', detail: 'must be one product: send one request for each of several' },
    ]);
  });

  test('an unknown product is refused with the products that there are, as an unknown action is', () => {
    const [violation] = violationsOf({ ...byConsent, product: 'horoscope' });
    expect(violation?.detail).toMatch(/^must be one of tef, bill, .*, balances$/);
  });
});

// test/fuzz/intake proves what is accepted, and that no answer has a value of the request.
describe('each violation has its pointer', () => {
  test.each<readonly [string, unknown, string]>([
    ['a body that is null', null, ''],
    ['a body that is a list', [], ''],
    ['no entity', { ...valid, entity: undefined }, '/entity'],
    ['an entity that is a number', { ...valid, entity: 7 }, '/entity'],
    ['an entity of 101 characters', { ...valid, entity: 'x'.repeat(101) }, '/entity'],
    ['no credentials', { ...valid, credentials: undefined }, '/credentials'],
    ['credentials without a mode', { ...valid, credentials: { value: {} } }, '/credentials/mode'],
    ['an unknown mode', { ...valid, credentials: { mode: 'plain', value: {} } }, '/credentials/mode'],
    ['raw credentials that are a text', rawIn('u:p'), '/credentials/value'],
    ['raw credentials without a field', rawIn({}), '/credentials/value'],
    [
      'an unknown field beside the value',
      { ...valid, credentials: { ...valid.credentials, x: 1 } },
      '/credentials/x',
    ],
    [
      'encrypted credentials that are an object',
      { ...encrypted, credentials: { mode: 'encrypted', value: {} } },
      '/credentials/value',
    ],
    [
      'encrypted credentials without a session token',
      { ...encrypted, sessionToken: undefined },
      '/sessionToken',
    ],
    ['a session token with raw credentials', { ...valid, sessionToken: 'st' }, '/sessionToken'],
    ['a session token with a line break in it', { ...encrypted, sessionToken: 'a\nb' }, '/sessionToken'],
    ['a session token that is not ASCII', { ...encrypted, sessionToken: 'añb' }, '/sessionToken'],
    ['no actions', { ...valid, actions: undefined }, '/actions'],
    ['an empty list of actions', { ...valid, actions: [] }, '/actions'],
    ['51 actions', { ...valid, actions: Array.from({ length: 51 }, () => ({ id: 'tef' })) }, '/actions'],
    ['an action without an id', { ...valid, actions: [{ id: 'tef' }, {}] }, '/actions/1/id'],
    ['an action that v2 does not list', { ...valid, actions: [{ id: 'debt' }] }, '/actions/0/id'],
    ['an unknown field of an action', { ...valid, actions: [{ id: 'tef', x: 1 }] }, '/actions/0/x'],
    ['params for tef', { ...valid, actions: [{ id: 'tef', params: {} }] }, '/actions/0/params'],
    ['movement without params', { ...valid, actions: [{ id: 'movement' }] }, '/actions/0/params'],
    [
      'movement without a range',
      { ...valid, actions: [{ id: 'movement', params: {} }] },
      '/actions/0/params/dateRange',
    ],
    [
      'an unknown param',
      { ...valid, actions: [{ id: 'movement', params: { dateRange, x: 1 } }] },
      '/actions/0/params/x',
    ],
    [
      'a range without a start',
      movementIn({ endDate: '2026-01-31' }),
      '/actions/0/params/dateRange/startDate',
    ],
    [
      'a date in another form',
      movementIn({ ...dateRange, startDate: '01/02/2026' }),
      '/actions/0/params/dateRange/startDate',
    ],
    [
      'a 30 February',
      movementIn({ startDate: '2026-02-30', endDate: '2026-03-31' }),
      '/actions/0/params/dateRange/startDate',
    ],
    [
      'an end before its start',
      movementIn({ startDate: '2026-02-01', endDate: '2026-01-31' }),
      '/actions/0/params/dateRange/endDate',
    ],
    ['an empty reference', { ...valid, reference: '' }, '/reference'],
    ['a reference of 257 characters', { ...valid, reference: 'x'.repeat(257) }, '/reference'],
    ['an unknown field', { ...valid, webhook: { enable: true } }, '/webhook'],
    ['an unknown field whose name needs escaping', { ...valid, 'a/b~c': 1 }, '/a~1b~0c'],
    [
      'an unknown field named like one of every object',
      JSON.parse('{"toString":1,"entity":"bank"}'),
      '/toString',
    ],
  ])('%s', (_what, body, pointer) => {
    expect(pointersOf(body)).toContain(pointer);
  });

  test('and no other: one thing wrong is one violation', () => {
    expect(pointersOf({ ...valid, entity: 7 })).toEqual(['/entity']);
    expect(pointersOf(movementIn({ startDate: '2026-02-30', endDate: '2026-03-31' }))).toEqual([
      '/actions/0/params/dateRange/startDate',
    ]);
    expect(pointersOf({ ...valid, actions: [{ id: 'debt' }] })).toEqual(['/actions/0/id']);
  });
});

test('violations in several places are all reported', () => {
  const body = {
    entity: '',
    credentials: { mode: 'raw', value: 7 },
    actions: [{ id: 'tef', params: {} }, { id: 'nope' }, { id: 'movement' }],
    reference: 9,
    extra: true,
  };
  expect(pointersOf(body)).toEqual(
    expect.arrayContaining([
      '/entity',
      '/credentials/value',
      '/actions/0/params',
      '/actions/1/id',
      '/actions/2/params',
      '/reference',
      '/extra',
    ]),
  );
});

// valibot leaves these three names out of every object, unseen, so that nothing was unknown about them.
test.each(['constructor', 'prototype', '__proto__'])(
  'a field called %s is unknown wherever it stands',
  (name) => {
    const field = `"${name}":{"entity":"x"}`;
    const texts = [
      [`{${field},"entity":"e","credentials":{"mode":"persisted","value":"v"},"actions":[{"id":"tef"}]}`, ''],
      [
        `{"entity":"e","credentials":{"mode":"persisted","value":"v",${field}},"actions":[{"id":"tef"}]}`,
        '/credentials',
      ],
      [
        `{"entity":"e","credentials":{"mode":"persisted","value":"v"},"actions":[{"id":"tef",${field}}]}`,
        '/actions/0',
      ],
      [JSON.stringify(byConsent).replace('{', `{${field},`), ''],
    ];
    for (const [text = '', parent] of texts) {
      expect(violationsOf(JSON.parse(text))).toEqual([
        { pointer: `${parent}/${name}`, detail: 'is not a known field' },
      ]);
    }
  },
);

// JSON.stringify recurses; JSON.parse does not. 30,000 brackets fit in 64 KiB.
test('credentials nested deeper than the stack are refused, not an exception', () => {
  const nested: unknown = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`);
  expect(pointersOf(rawIn({ username: 'u', nested }))).toEqual(['/credentials']);
});
