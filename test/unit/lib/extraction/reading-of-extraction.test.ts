import { describe, expect, test } from 'vitest';
import { readingOfExtraction } from '../../../../lib/extraction/reading-of-extraction.ts';

const bytes = Buffer.from('as received');

describe('in progress', () => {
  test('a 202 is still running', () => {
    expect(readingOfExtraction({ kind: 'in-progress' })).toEqual({ kind: 'running', known: true });
  });

  test.each([
    ['pending', true],
    ['running', true],
    ['error', false],
    ['SUCCESS', false],
  ])('a 200 of v1 that says %s is still running', (taskStatus, known) => {
    const reading = readingOfExtraction({ kind: 'answered', taskStatus, data: [], bytes });
    expect(reading).toEqual({ kind: 'running', known });
  });
});

describe('ended', () => {
  test.each([
    ['success of v1', { taskStatus: 'success' }],
    ['a 200 of v2', {}],
  ])('%s is COMPLETED, with the answer as it was received', (_what, status) => {
    expect(readingOfExtraction({ kind: 'answered', ...status, data: [{ a: 1 }], bytes })).toEqual({
      kind: 'ended',
      taskStatus: 'COMPLETED',
      results: bytes,
      expected: true,
    });
  });

  test.each([[undefined], [null], [{ items: [] }], ['text']])(
    'data of an unexpected form are kept all the same: %j',
    (data) => {
      expect(readingOfExtraction({ kind: 'answered', taskStatus: 'success', data, bytes })).toEqual({
        kind: 'ended',
        taskStatus: 'COMPLETED',
        results: bytes,
        expected: false,
      });
    },
  );

  test('a body with an errorType is FAILED, with the reason and nothing to store', () => {
    expect(readingOfExtraction({ kind: 'failed', errorType: 'ENTITY', errorCode: 'DOWN' })).toEqual({
      kind: 'ended',
      taskStatus: 'FAILED',
      reason: 'ENTITY/DOWN',
      expected: true,
    });
  });
});
