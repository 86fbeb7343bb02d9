import { expect, test } from 'vitest';
import { withTaskTokens } from '../../../../bench/cost/bill/task-tokens.ts';
import type { Call, Entry } from '../../../../bench/ledger/entry.ts';

const call = (service: string, operation: string): Call => ({
  ...{ service, operation, startedAt: 1, endedAt: 2, statusCode: 200, answerBytes: 0 },
});
const [read, token, message] = [
  call('provider', 'GET'),
  call('provider', 'POST'),
  call('sqs', 'SendMessage'),
];
const entry = (cpuMs: number, ...calls: readonly Call[]): Entry => ({
  ...{ function: 'reconcile-extraction', requestId: 'r', ordinal: 2, cpuMs, startedAt: 0, endedAt: 3 },
  ...{ failed: false, bodyBytes: 0, calls },
});

test('each read of the provider gets a Task Token, and its CPU time', () => {
  const first = entry(15, token, read, message);
  const early = entry(2, message);
  const entries = [first, early, entry(10, read, message), entry(30, read)];
  const [sample] = withTaskTokens([{ history: [], downloads: 1, entries }]);
  const cost = sample?.entries.map(({ cpuMs, calls }) => [cpuMs, calls.length]);
  // The polls without a token have a median of 6 ms.
  expect(cost).toEqual([
    [15, 3],
    [2, 1],
    [19, 3],
    [39, 2],
  ]);
  expect(sample?.entries[3]?.calls[1]).toMatchObject({
    ...call('provider', 'POST'),
    startedAt: 4,
    endedAt: 4,
  });
});
