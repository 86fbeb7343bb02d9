import { expect, test } from 'vitest';
import { nameExtractions } from '../../../../../tools/local/demo/name-extractions.ts';

const at = '2026-01-01T00:00:00.000Z';
const extractionId = '01a1fe07-9745-75b1-b891-0d0d5703db17';
const call = (taskId: string) =>
  ({
    source: 'provider',
    event: {
      type: 'call',
      seq: 1,
      at,
      call: { seq: 1, at, method: 'GET', path: '/api/v2/tasks', status: 200, taskId },
    },
  }) as const;

test('an event names its extraction, and one of the provider does once the stream has linked its task', () => {
  const nameOf = nameExtractions();
  expect(nameOf(call('t-1'))).toBeUndefined();
  const record = { eventName: 'MODIFY', dynamodb: { NewImage: { taskId: { S: 't-1' } } } } as const;
  expect(nameOf({ source: 'stream', extractionId, record })).toBe('5703db17');
  expect(nameOf(call('t-1'))).toBe('5703db17');
  expect(nameOf(call('t-2'))).toBeUndefined();
  expect(nameOf({ source: 'provider', event: { type: 'reset', seq: 2, at } })).toBeUndefined();
});
