import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, expect, test, vi } from 'vitest';
import { followFunctionLogs } from '../../../../tools/local/follow-function-logs.ts';
import { type LogLine, readFunctionLogs } from '../../../../tools/local/read-function-logs.ts';

const directory = mkdtempSync(join(tmpdir(), 'cosecha-logs-'));
afterAll(() => rmSync(directory, { recursive: true }));

type Event = { readonly timestamp: number; readonly message: string };

const event = (timestamp: number, message: string): Event => ({ timestamp, message });

test('each line is read once, also if others of the same time come later', async () => {
  const groups: Record<string, Event[]> = {
    one: [event(1, 'a'), event(2, 'b')],
    two: [event(1, 'c')],
  };
  // A paginator accepts only an instance of the client.
  const client = new CloudWatchLogsClient({ region: 'us-east-1' });
  vi.spyOn(client, 'send').mockImplementation(async ({ input }: { readonly input: object }) => {
    if (!('logGroupName' in input)) {
      return { logGroups: Object.keys(groups).map((logGroupName) => ({ logGroupName })) };
    }
    const { logGroupName, startTime } = input as {
      readonly logGroupName: string;
      readonly startTime: number;
    };
    return { events: groups[logGroupName]?.filter(({ timestamp }) => timestamp >= startTime) };
  });
  const read = readFunctionLogs(client);
  const messages = async () => (await read()).map(({ message }) => message);
  expect(await messages()).toEqual(['a', 'c', 'b']);
  expect(await messages()).toEqual([]);
  groups.one?.push(event(2, 'd'));
  groups.two?.push(event(3, 'e'));
  expect(await messages()).toEqual(['d', 'e']);
});

test('the file has every line, those of the time of the abort included', async () => {
  const file = join(directory, 'functions.log');
  const stop = new AbortController();
  const lines = ['first', 'at the end'];
  const shown: string[] = [];
  let reads = 0;
  const read = async (): Promise<readonly LogLine[]> => {
    reads += 1;
    if (reads === 1) throw new Error('The emulator is busy.');
    return lines.splice(0, 1).map((message) => ({ timestamp: 1, message, text: message }));
  };
  const onLine = ({ message }: LogLine) => {
    shown.push(message);
    stop.abort();
  };
  await followFunctionLogs(read, file, onLine, stop.signal);
  expect(readFileSync(file, 'utf8')).toBe('first\nat the end\n');
  expect(shown).toEqual(['first', 'at the end']);
});
