import fc from 'fast-check';
import { productTypes } from '#lib/provider/vocabulary.ts';
import { anyLine, anyText, anyUnits } from './any-text.ts';
import { nationalId } from './national-id.ts';

const between = (min: string, max: string): fc.Arbitrary<string> =>
  fc
    .date({ min: new Date(min), max: new Date(max), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));

/** A day that exists, from the year 0 on. */
const day = fc.oneof(
  { weight: 3, arbitrary: between('1990-01-01', '2040-12-31') },
  { weight: 1, arbitrary: between('0000-01-01', '9999-12-31') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0000-02-29', '1900-02-28', '2000-02-29', '2028-02-29', '9999-12-31'),
  },
);

const dateRange = fc.tuple(day, day).map((pair) => {
  const [startDate, endDate] = pair.toSorted();
  return { startDate, endDate };
});

const action = fc.oneof(
  fc.constantFrom({ id: 'tef' }, { id: 'product-balance' }),
  dateRange.map((dateRange) => ({ id: 'movement', params: { dateRange } })),
);

/** Names that an object has already; `@proto` is written as `__proto__` by `textOf`. */
export const trickyNames = [
  '@proto',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'a/b',
  '~1',
  '0',
];

const ownField = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('username', 'password', 'businessId') },
  { weight: 1, arbitrary: fc.constantFrom(...trickyNames) },
  { weight: 1, arbitrary: anyUnits({ maxLength: 6 }) },
);

export const rawValue = fc.dictionary(
  ownField,
  fc.oneof(
    { weight: 30, arbitrary: anyUnits({ maxLength: 20 }) },
    { weight: 10, arbitrary: fc.jsonValue() },
    { weight: 1, arbitrary: fc.constantFrom('contrase\ufffda', ['\ufffd']) },
  ),
  { minKeys: 1, maxKeys: 4 },
);

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 60,
});

const upTo = (of: typeof anyText, maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: of({ minLength: 1, maxLength: 20 }) },
    { weight: 1, arbitrary: of({ minLength: maxLength - 1, maxLength }) },
  );

const commonFields = {
  reference: upTo(anyLine, 256),
  batch: upTo(anyLine, 256),
  priority: fc.constantFrom('interactive', 'background'),
};
const ciphertext = upTo(anyText, 300);

const credentialsRequest = fc
  .record(
    {
      method: fc.constant('credentials'),
      entity: upTo(anyLine, 100),
      credentials: fc.oneof(
        fc.record({ mode: fc.constant('raw'), value: rawValue }),
        fc.record({ mode: fc.constant('persisted'), value: ciphertext }),
        fc.record({ mode: fc.constant('encrypted'), value: ciphertext }),
      ),
      actions: fc.array(action, { minLength: 1, maxLength: 4 }),
      ...commonFields,
      sessionToken: visible,
      confirmed: fc.constant(true),
    },
    { requiredKeys: ['entity', 'credentials', 'actions', 'sessionToken'] },
  )
  .map(({ sessionToken, ...request }) =>
    request.credentials.mode === 'encrypted' ? { ...request, sessionToken } : request,
  );

const consentRequest = fc.record(
  {
    method: fc.constant('consent'),
    product: fc.constantFrom(...productTypes),
    consentId: fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
      fc.constantFrom('c-1', 'urn:uuid:5d5f0f0c-6b0e-4d0f-9d5e-2f6a3c1b7e10', '...'),
    ),
    target: nationalId,
    variant: fc.constantFrom('v1', 'v2'),
    ...commonFields,
  },
  { requiredKeys: ['method', 'product', 'consentId', 'target'] },
);

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A request as documented, by either method and in every mode. */
export const validRequest = fc.oneof(
  { weight: 2, arbitrary: credentialsRequest },
  { weight: 1, arbitrary: consentRequest },
) as unknown as fc.Arbitrary<{ readonly [name: string]: Json }>;

/** The JSON text of a value, in which a member called `@proto` is called `__proto__`. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll('"@proto":', '"__proto__":');
