import { type HistoryEvent, SFNClient } from '@aws-sdk/client-sfn';
import { expect, test, vi } from 'vitest';
import { followExecution } from '../../../../../tools/local/demo/follow-execution.ts';

const event = (id: number, type: HistoryEvent['type'], second: number): HistoryEvent => ({
  id,
  type,
  timestamp: new Date(second * 1_000),
});

test('events from before the record are no news, and the last of them ends it all the same', async () => {
  const client = new SFNClient({ region: 'us-east-1' });
  const history = [event(1, 'ExecutionStarted', 1), event(2, 'ExecutionSucceeded', 2)];
  vi.spyOn(client, 'send').mockImplementation(async () => ({ events: history }));
  const idsSince = async (since: Date) => {
    const ids: unknown[] = [];
    for await (const { id } of followExecution(client, 'arn', new AbortController().signal, since))
      ids.push(id);
    return ids;
  };
  expect(await idsSince(new Date(0))).toEqual([1, 2]);
  expect(await idsSince(new Date(2_000))).toEqual([2]);
  expect(await idsSince(new Date(3_000))).toEqual([]);
});
