import fc from 'fast-check';
import { entityTypes, productTypes } from '#lib/provider/vocabulary.ts';
import { anyLine } from './any-text.ts';
import type { Json } from './extraction-request.ts';
import { nationalId } from './national-id.ts';

const more = {
  products: fc.array(fc.constantFrom(...productTypes), { minLength: 1, maxLength: 4 }),
  filters: fc.constantFrom<Json>(
    {},
    { entities: {} },
    { entities: { include: { types: [...entityTypes] } } },
  ),
  locale: anyLine({ minLength: 1, maxLength: 35 }),
};
const email = anyLine({ minLength: 1, maxLength: 40 });

const natural = fc.record(
  { person: fc.constant('natural'), user: fc.record({ email }, { requiredKeys: [] }), ...more },
  { requiredKeys: ['products'] },
);

const legal = fc.record(
  {
    person: fc.constant('legal'),
    user: fc.record({ username: nationalId, email }, { requiredKeys: ['username'] }),
    ...more,
  },
  { requiredKeys: ['person', 'products', 'user'] },
);

/** A consent session as documented, of a natural person or a legal one. */
export const validSession = fc.oneof(natural, legal) as unknown as fc.Arbitrary<Json>;
