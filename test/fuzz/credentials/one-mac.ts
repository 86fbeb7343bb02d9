import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { credentialsMac } from '../../../lib/extraction/refused-credentials.ts';
import { extraction } from '../../support/data/extraction-fixtures.ts';
import { type Json, rawValue, textOf } from '../generators/extraction-request.ts';
import { mutatedJson } from '../generators/mutated-json.ts';
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

const value = fc.oneof(
  alike.map((field): Json => ({ field })),
  rawValue as unknown as fc.Arbitrary<Json>,
  accented,
  fc.tuple(accented, accented).map(([one, other]) => ({ one, list: [other, 1, -0, 1e21, 0.1] })),
);

export const oneMac = fuzzProperty({
  name: 'credentials/one-mac',
  claim:
    'raw credentials have one MAC in every order of keys, form of numbers and normal form of Unicode; two different values have two',
  weight: 10,
  expected: { respelled: 0.5, 'in another normal form': 0.1, 'another value': 0.5 },
  cases: fc.record({
    pair: value.chain((one) =>
      fc.tuple(fc.constant(one), fc.oneof(value, mutatedJson(fc.constant<Json>(one)))),
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

    const isSame = isDeepStrictEqual(inOneForm(JSON.parse(text)), inOneForm(JSON.parse(textOf(other))));
    assert.equal(macOf(textOf(other)) === macOf(text), isSame);
    if (!isSame) see('another value');
  },
});
