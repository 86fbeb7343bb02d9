import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failureReason } from '../../../../lib/extraction/provider-codes.ts';

test.each<readonly [string, { errorType: string; errorCode?: string }, string]>([
  ['a type alone', { errorType: 'ENTITY' }, 'ENTITY'],
  ['a type and a code', { errorType: 'ENTITY', errorCode: 'DOWN' }, 'ENTITY/DOWN'],
  ['a code with a number', { errorType: 'ENTITY', errorCode: 'E1042' }, 'ENTITY/E1042'],
  ['hyphens and dots', { errorType: 'entity-error', errorCode: 'bank.down' }, 'entity_error/bank_down'],
  ['a sentence', { errorType: 'The user Ana is not known' }, 'OTHER'],
  ['a sentence as a code', { errorType: 'ENTITY', errorCode: 'try again!' }, 'ENTITY/OTHER'],
  ['an empty code', { errorType: 'ENTITY', errorCode: '' }, 'ENTITY/OTHER'],
  ['a national id', { errorType: '11111111-1', errorCode: 'RUT-11.111.111-1' }, 'OTHER/OTHER'],
  ['what is too long for a word', { errorType: 'X'.repeat(65) }, 'OTHER'],
  ['a line break', { errorType: 'ENTITY\n', errorCode: 'A\nB' }, 'OTHER/OTHER'],
])('%s', (_what, failure, reason) => {
  expect(failureReason(failure)).toBe(reason);
});

test('the reason is one or two short codes, for any text of the provider', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (errorType, errorCode) => {
      const reason = failureReason({ errorType, ...(errorCode === undefined ? {} : { errorCode }) });
      expect(reason).toMatch(/^[A-Za-z]\w{0,63}(\/[A-Za-z]\w{0,63})?$/);
    }),
  );
});
