import fc from 'fast-check';
import { expect, test } from 'vitest';
import { updateExpression } from '../../../../lib/aws/update-expression.ts';
import { type Extraction, ownOutcomes, terminalStatuses } from '../../../../lib/extraction/record.ts';
import type { Guard, Update } from '../../../../lib/extraction/transitions.ts';
import { type Item, interpreter } from '../../../support/stores/expression-interpreter.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';

// Few values, so that guards hold about as often as not.
const status = fc.constantFrom('REQUESTED', 'STARTING', 'RUNNING', ...terminalStatuses, ...ownOutcomes);
const short = fc.constantFrom('a', 'b');
const time = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:05:00.000Z');
const results = fc.record({ bucket: short, key: short, bytes: fc.nat(9), sha256: short });

const fields = {
  requestId: short,
  attemptId: short,
  taskId: short,
  reason: short,
  startingAt: time,
  settledAt: time,
  collectedAt: time,
  collectionError: short,
  dueShard: fc.nat(15),
  dueAt: time,
  expiresAt: fc.nat(99),
  results,
  actionResults: fc.array(fc.record({ id: short, status: short }, { requiredKeys: ['id', 'status'] })),
};

const item = fc
  .record({ status, ...fields }, { requiredKeys: ['status'] })
  .map((given) => ({ extractionId: 'x', ...given }) as unknown as Extraction);

/** A guard on `field` with the item's own value, with another one, or none. */
const guardOn = (
  given: Extraction,
  field: 'requestId' | 'attemptId' | 'taskId' | 'dueAt',
  other: fc.Arbitrary<string>,
) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(given[field] === undefined ? {} : { [field]: given[field] }) },
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: other.map((value) => ({ [field]: value })) },
  );

const flag = (name: 'open' | 'uncollected' | 'withoutAttempt') => fc.constantFrom({}, {}, { [name]: true });

/** A change that was decided on the item, so that its guard holds about as often as not. */
const changeOf = (given: Extraction): fc.Arbitrary<Update> =>
  fc
    .record({
      statuses: fc.uniqueArray(status, { minLength: 1, maxLength: 4 }),
      aims: fc.integer({ min: 0, max: 4 }),
      guards: fc.tuple(
        guardOn(given, 'requestId', short),
        guardOn(given, 'attemptId', short),
        guardOn(given, 'taskId', short),
        guardOn(given, 'dueAt', time),
        flag('open'),
        flag('uncollected'),
        flag('withoutAttempt'),
      ),
      set: fc.record({ status, ...fields }, { requiredKeys: [] }),
      remove: fc.uniqueArray(fc.constantFrom(...(Object.keys(fields) as Update['remove'][number][]))),
    })
    .filter(({ set }) => Object.keys(set).length > 0)
    .map(({ statuses, aims, guards, set, remove }) => {
      const when = {
        status: aims > 0 ? [given.status, ...statuses] : statuses,
        ...Object.assign({}, ...guards),
      };
      return {
        extractionId: 'x',
        when: { ...when, status: [...new Set(when.status)] } as Guard,
        set: set as unknown as Update['set'],
        remove: remove.filter((attribute) => !(attribute in set)),
      };
    });

const itemAndChange = item.chain((given) => fc.tuple(fc.constant(given), changeOf(given)));

const interpreted = (
  before: Extraction,
  made: Update,
): { readonly applied: boolean; readonly item: Item } => {
  const parts = updateExpression(made);
  const expressions = interpreter(parts);
  const holds = expressions.condition(parts.ConditionExpression);
  const next = expressions.update(parts.UpdateExpression);
  expressions.refuseUnused();
  const old = before as unknown as Item;
  return holds(old) ? { applied: true, item: next(old) } : { applied: false, item: old };
};

test('the expressions of any change do to an item what the memory store does', async () => {
  const seen = { applied: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(itemAndChange, async ([before, made]) => {
      const memory = memoryExtractionStore();
      memory.items.set('x', before);
      const inMemory = await memory.apply(made);
      const expected = interpreted(before, made);
      expect({ applied: inMemory.applied, item: inMemory.record }).toEqual(expected);
      expect(memory.items.get('x')).toEqual(expected.item);
      seen[expected.applied ? 'applied' : 'refused'] += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.applied, seen.refused)).toBeGreaterThan(100);
});

test('every attribute is aliased, as some of ours are reserved words', () => {
  const parts = updateExpression({
    extractionId: 'x',
    when: { status: ['RUNNING'], open: true, uncollected: true },
    set: { status: 'COMPLETED', reason: 'r' },
    remove: ['dueShard', 'dueAt'],
  });
  const words = `${parts.UpdateExpression} ${parts.ConditionExpression}`.match(/[#:]?\w+/g) ?? [];
  const plain = words.filter((word) => !/^[#:]/.test(word));
  expect(new Set(plain)).toEqual(
    new Set(['SET', 'REMOVE', 'IN', 'AND', 'attribute_exists', 'attribute_not_exists']),
  );
});

test('a field that is undefined is neither set nor named', () => {
  const parts = updateExpression({
    extractionId: 'x',
    when: { status: ['RUNNING'] },
    set: { status: 'COMPLETED', reason: undefined } as unknown as Update['set'],
    remove: [],
  });
  expect(parts.UpdateExpression).toBe('SET #status = :status');
  expect(Object.keys(parts.ExpressionAttributeNames)).toEqual(['#status']);
});
