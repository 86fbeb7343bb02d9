import { describe, expect, test } from 'vitest';
import { decryptText } from '../../../../../lib/provider/encryption-scheme.ts';
import { startTask } from '../../../../../lib/provider/tasks/start-task.ts';
import type { TaskRequest } from '../../../../../lib/provider/tasks/task-request.ts';
import { ProviderAmbiguous, ProviderAnswerTooLarge } from '../../../../../lib/provider/transport/errors.ts';
import { answering } from '../../../../support/canned-connection.ts';
import { errorText } from '../../../../support/error-text.ts';

const request: TaskRequest = {
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p', businessId: 7 } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  webhook: { enable: true, retries: 5 },
};

test('raw credentials go encrypted under the very token of the call, where the connection says so', async () => {
  const { connection, calls } = answering(() => ({ body: '{"taskId":"task-1"}' }), {
    encryptRawCredentials: true,
  });
  await startTask(connection, 'first-session', request);
  await startTask(connection, 'second-session', request);

  const sent = calls.map(
    ({ body }) => JSON.parse(body ?? '') as { credentials: { mode: string; value: string } },
  );
  expect(sent.map(({ credentials }) => credentials.mode)).toEqual(['encrypted', 'encrypted']);
  expect(calls.map(({ body }) => body).join()).not.toContain('password');
  for (const [index, token] of ['first-session', 'second-session'].entries()) {
    const plain = decryptText(sent[index]?.credentials.value ?? '', token).toString('utf8');
    expect(JSON.parse(plain)).toEqual(request.credentials.value);
  }
});

test('a taskId of 100 characters is one', async () => {
  const { connection } = answering(() => ({ body: JSON.stringify({ taskId: 'x'.repeat(100) }) }));
  expect(await startTask(connection, 'session', request)).toHaveLength(100);
});

describe('a 2xx without a valid taskId is ambiguous, as a task may exist; the error never quotes it', () => {
  test.each([
    ['a taskId of null', '{"taskId":null,"x":"SENTINEL"}'],
    ['an empty taskId', '{"taskId":"","x":"SENTINEL"}'],
    ['a taskId of 101 characters', JSON.stringify({ taskId: 'SENTINEL'.padEnd(101, 'x') })],
    ['a taskId inside data', '{"data":{"taskId":"SENTINEL"}}'],
  ])('%s', async (_what, body) => {
    const { connection } = answering(() => ({ body }));
    const failure = await startTask(connection, 'session', request).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderAmbiguous);
    expect(errorText(failure)).not.toContain('SENTINEL');
    expect((failure as Error).cause).toBeUndefined();
  });
});

test('an answer over the cap is too large, and read no further', async () => {
  const { connection } = answering(() => ({ body: 'x'.repeat(11) }), { maxAnswerBytes: 10 });
  await expect(startTask(connection, 'session', request)).rejects.toThrow(ProviderAnswerTooLarge);
});
