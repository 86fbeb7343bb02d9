import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseActionResults } from '../../../../../lib/provider/tasks/parse-action-results.ts';

test('id, status and error code of each action are kept, in order', () => {
  const results = {
    username: 'u',
    entityId: 'bank',
    actions: [
      { id: 'product-balance', status: 'COMPLETED', output: { balance: 7 } },
      { id: 'movement', status: 'FAILED', output: null, error: { code: 'TIMEOUT_ERROR', message: 'slow' } },
    ],
  };
  expect(parseActionResults('PARTIAL', results)).toEqual({
    kind: 'actions',
    actions: [
      { id: 'product-balance', status: 'COMPLETED' },
      { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
    ],
  });
});

test('output and message never pass, whatever is in them', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (output, message) => {
      const action = { id: 'tef', status: 'FAILED', output, error: { code: 'ACTION_ERROR', message } };
      expect(parseActionResults('PARTIAL', { actions: [action] })).toEqual({
        kind: 'actions',
        actions: [{ id: 'tef', status: 'FAILED', errorCode: 'ACTION_ERROR' }],
      });
    }),
  );
});

test('a code that the catalogue does not have yet passes as given', () => {
  const results = { actions: [{ id: 'tef', status: 'FAILED', error: { code: 'NEW_ERROR' } }] };
  expect(parseActionResults('PARTIAL', results)).toMatchObject({ actions: [{ errorCode: 'NEW_ERROR' }] });
});

test('an error of null is none', () => {
  const results = { actions: [{ id: 'tef', status: 'COMPLETED', error: null }] };
  expect(parseActionResults('PARTIAL', results)).toEqual({
    kind: 'actions',
    actions: [{ id: 'tef', status: 'COMPLETED' }],
  });
});

test.each(['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'])('null is no results for %s', (taskStatus) => {
  expect(parseActionResults(taskStatus, null)).toEqual({ kind: 'none' });
});

test.each(['COMPLETED', 'PARTIAL', 'FAILED'])('null is a shape that nobody knows for %s', (taskStatus) => {
  expect(parseActionResults(taskStatus, null)).toEqual({ kind: 'unexpected' });
});

test.each([
  undefined,
  'later',
  7,
  [],
  {},
  { actions: null },
  { actions: {} },
  { actions: ['tef'] },
  { actions: [{ id: 'tef' }] },
  { actions: [{ id: 7, status: 'COMPLETED' }] },
  { actions: [{ id: 'tef', status: 'FAILED', error: 'broken' }] },
  { actions: [{ id: 'tef', status: 'FAILED', error: { message: 'no code' } }] },
])('%j is a shape that nobody knows', (results) => {
  expect(parseActionResults('PARTIAL', results)).toEqual({ kind: 'unexpected' });
});

test('whatever the provider sends, nothing is thrown', () => {
  fc.assert(
    fc.property(fc.anything(), (results) => {
      expect(['none', 'actions', 'unexpected']).toContain(parseActionResults('PARTIAL', results).kind);
    }),
  );
});
