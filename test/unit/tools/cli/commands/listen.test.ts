import { expect, test } from 'vitest';
import { planOf, reportEmptyReplay } from '../../../../../tools/cli/commands/listen.ts';
import type { ListenState } from '../../../../../tools/cli/listen/listen-state.ts';
import { CliError, UsageError } from '../../../../../tools/cli/terminal/errors.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const progress = { since: '2026-11-22T09:00:00.000Z', positions: { 'shard-1': '7' } };
const saved: ListenState = { streamArn: 'stream-1', secret: 'whsec_abc', progress };
const hoursAgo = (hours: number) => (at: Date) => new Date(at.getTime() - hours * 3_600_000);
const fresh = { since: now.toISOString(), positions: {} };

test('a first run starts at the end of the stream', () => {
  expect(planOf({}, undefined, 'stream-1', now)).toMatchObject({ progress: fresh, atNewest: true });
});

test('a later run continues, but not in another stream', () => {
  const plan = planOf({}, saved, 'stream-1', now);
  expect(plan.progress).toEqual(progress);
  expect(plan.atNewest).toBeUndefined();
  expect(planOf({}, saved, 'stream-2', now)).toMatchObject({ progress: fresh, atNewest: true });
});

test('--since starts there, whatever was handled before, and within what the stream keeps', () => {
  const plan = planOf({ since: hoursAgo(2) }, saved, 'stream-1', now);
  expect(plan.progress).toEqual({ since: '2026-11-22T10:00:00.000Z', positions: {} });
  expect(plan.atNewest).toBeUndefined();
  expect(() => planOf({ since: hoursAgo(25) }, saved, 'stream-1', now)).toThrow(UsageError);
});

test('--replay starts at the oldest record, and ends', () => {
  const plan = planOf({ replay: 'e-1' }, saved, 'stream-1', now);
  expect(plan.progress.positions).toEqual({});
  expect(plan.endsAt).toEqual(now);
});

test('a replay that sent nothing says why, and fails for an unknown id', async () => {
  const hints: string[] = [];
  const report = (inStream: number, exists: boolean) =>
    reportEmptyReplay('e-1', inStream, async () => exists, { hint: (line) => hints.push(String(line)) });
  await report(2, true);
  await report(0, true);
  expect(hints).toEqual([
    'Nothing was sent: e-1 has no outcome. --all sends its other changes.',
    'Nothing was sent: the stream has nothing of e-1, as it keeps events for 24 hours.',
  ]);
  await expect(report(0, false)).rejects.toThrow(CliError);
});
