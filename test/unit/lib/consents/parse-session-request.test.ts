import { expect, test } from 'vitest';
import { parseSessionRequest } from '../../../../lib/consents/parse-session-request.ts';

const target = '76086428-5';
const valid = { products: ['movement', 'tef'] };

const pointersOf = (body: unknown): readonly string[] => {
  const parsed = parseSessionRequest(body, target);
  return parsed.kind === 'valid' ? [] : parsed.violations.map(({ pointer }) => pointer);
};

test('a natural person is who is meant unless a legal one is named', () => {
  const natural = {
    kind: 'valid',
    request: { person: 'natural', input: { ...valid, user: { username: target } } },
  };
  expect(parseSessionRequest(valid, target)).toEqual(natural);
  expect(parseSessionRequest({ ...valid, person: 'natural', user: {} }, target)).toEqual(natural);
});

test.each<readonly [string, unknown, readonly string[]]>([
  ['no object', [], ['']],
  ['nothing to authorize', { products: [] }, ['/products']],
  ['an unknown product', { products: ['tef', 'secrets'] }, ['/products/1']],
  ['an unknown field', { ...valid, clientId: 'x' }, ['/clientId']],
  ['an unknown person', { ...valid, person: 'juridical' }, ['/person']],
  ['a legal person for whom nobody acts', { ...valid, person: 'legal' }, ['/user/username']],
  ['a natural person named twice', { ...valid, user: { username: '11111111-1' } }, ['/user/username']],
  [
    'a national id with another check digit',
    { ...valid, person: 'legal', user: { username: '11111111-2' } },
    ['/user/username'],
  ],
  ['a list for an object', { ...valid, user: [], filters: { entities: [] } }, ['/user', '/filters/entities']],
  ['an empty email', { ...valid, user: { email: '' } }, ['/user/email']],
  [
    'control characters',
    { ...valid, user: { email: 'a@b.example\r\nBcc: c' }, locale: 'es\u009bCL' },
    ['/user/email', '/locale'],
  ],
  [
    'an unknown type of entity',
    { ...valid, filters: { entities: { include: { types: ['bank', 'shop'] } } } },
    ['/filters/entities/include/types/1'],
  ],
  ['an unknown filter', { ...valid, filters: { products: [] } }, ['/filters/products']],
  ['two things at once', { products: [], locale: '' }, ['/products', '/locale']],
])('is refused by pointer: %s', (_, body, pointers) => {
  expect(pointersOf(body)).toEqual(pointers);
});

test.each(['constructor', 'prototype', '__proto__'])('a field called %s is unknown too', (name) => {
  const body: unknown = JSON.parse(`{"products":["tef"],"${name}":1,"user":{"${name}":1}}`);
  expect(pointersOf(body)).toEqual([`/user/${name}`, `/${name}`]);
});

test('no violation repeats a value', () => {
  const body = {
    products: ['SENTINEL'],
    person: 'SENTINEL',
    user: { username: 'SENTINEL', email: 7, SENTINEL: 1 },
    locale: ['SENTINEL'],
    filters: 'SENTINEL',
  };
  const parsed = parseSessionRequest(body, target);
  const details = parsed.kind === 'invalid' ? parsed.violations.map(({ detail }) => detail) : [];
  expect(details.length).toBeGreaterThan(4);
  expect(details.join()).not.toContain('SENTINEL');
});
