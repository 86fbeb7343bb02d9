import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { credentialsMac } from '#lib/extraction/refused-credentials.ts';
import { extraction } from '../../support/data/extraction-fixtures.ts';
import { type Json, rawValue, textOf } from '../generators/extraction-request.ts';
import { mutatedJson } from '../generators/mutated-json.ts';
import { hasRightCheckDigit } from '../generators/national-id.ts';
import { fuzzProperty } from '../property.ts';
import { inOneForm, respelled } from '../respelled-json.ts';

/** The MAC of a JSON text, as start-task makes it of what was sealed. */
const macOf = (text: string): string =>
  credentialsMac('key', extraction(), JSON.parse(text) as Record<string, unknown>);

/** Letters that Unicode can write in two ways, in names and in values. */
const accented = fc.dictionary(
  fc.constantFrom('contraseña', 'clé', 'Å', 'ﬁ', '한글', 'password'),
  fc.constantFrom('ñandú', 'é', 'e\u0301\u0323', 'Ω', '\u2126', 'ﬁ', 'fi', '각', 'x'),
  { minKeys: 1, maxKeys: 3 },
);

/** Values that differ only in where something ends, or in letters that look alike. */
const alike = fc.constantFrom(
  ...[
    [['a'], 'b'],
    [['a', 'b']],
    ['a', 'b'],
    'a,b',
    'ﬁ',
    'fi',
    '["a","b"]',
    { a: 'b' },
    [['a', 'b', {}]],
    { '0': 'a', '1': 'b' },
  ],
);

/** Logins with the documented fields. A national id is written in several ways, and the other fields differ. */
const login = fc.record(
  {
    username: fc.constantFrom<Json>('9007928-K', '9.007.928-K', '9007928k', '9007928-1', 'ana', 'Ana', 1),
    businessId: fc.constantFrom<Json>('11.111.111-1', '111111111', '1'),
    password: fc.constantFrom<Json>('x', 'y', '9007928-K', '9007928K', null),
    code: fc.constantFrom<Json>('1', '2'),
  },
  { requiredKeys: ['username', 'password'] },
) as unknown as fc.Arbitrary<Json>;

/** A national id without what does not matter; any other value as it is. */
const idOf = (written: Json): Json => {
  const plain = String(written)
    .normalize()
    .replaceAll(/[\s.\p{Pd}]|^[\s.\p{Pd}0]+/gu, '')
    .replace(/k$/, 'K');
  return /^\d{1,9}[\dK]$/.test(plain) && hasRightCheckDigit(plain) ? plain : written;
};

/** What of raw credentials has to be equal: with a user name and a password, only these and the business. */
const counted = (value: Json): unknown => {
  const { username, businessId, password } = value as { readonly [field: string]: Json };
  if (typeof username !== 'string' || password === undefined) return inOneForm(value);
  return [idOf(username), typeof businessId === 'string' ? idOf(businessId) : '', password].map(inOneForm);
};

const value = fc.oneof(
  login,
  alike.map((field): Json => ({ field })),
  rawValue as unknown as fc.Arbitrary<Json>,
  accented,
  fc.tuple(accented, accented).map(([one, other]) => ({ one, list: [other, 1, -0, 1e21, 0.1] })),
);

export const oneMac = fuzzProperty({
  name: 'credentials/one-mac',
  claim:
    'raw credentials have one MAC in every order of keys, form of numbers, normal form of Unicode and spelling of a national id; another user or password has another',
  weight: 10,
  expected: { respelled: 0.5, 'in another normal form': 0.1, 'another value': 0.5, 'the same login': 0.008 },
  cases: fc.record({
    pair: value.chain((one) =>
      fc.tuple(fc.constant(one), fc.oneof(value, login, mutatedJson(fc.constant<Json>(one)))),
    ),
    form: fc.constantFrom('NFC' as const, 'NFD' as const),
    escapes: fc.boolean(),
  }),
  check: async ({ pair: [one, other], form, escapes }, see) => {
    const text = textOf(one);
    const again = respelled(one, escapes, form);
    assert.equal(macOf(again), macOf(text));
    if (again !== text) see('respelled');
    if (textOf(JSON.parse(again)) !== textOf(JSON.parse(respelled(one, escapes))))
      see('in another normal form');

    if (typeof other !== 'object' || other === null || Array.isArray(other)) return;
    const [first, second] = [JSON.parse(text), JSON.parse(textOf(other))];
    const isSame = isDeepStrictEqual(counted(first), counted(second));
    assert.equal(macOf(textOf(other)) === macOf(text), isSame);
    if (!isSame) see('another value');
    else if (!isDeepStrictEqual(inOneForm(first), inOneForm(second))) see('the same login');
  },
});
