import { expect, test } from 'vitest';
import type { Context } from '../../../../../tools/cli/commands/context.ts';
import {
  type DeliverOptions,
  describeAnswer,
  requireConfirmation,
} from '../../../../../tools/cli/commands/deliver.ts';
import { planOf, reportEmptyReplay } from '../../../../../tools/cli/commands/listen.ts';
import { pause } from '../../../../../tools/cli/commands/pause.ts';
import type { ListenState } from '../../../../../tools/cli/listen/listen-state.ts';
import type { PredictedEffect } from '../../../../../tools/cli/operate/delivery.ts';
import { CliError, UsageError } from '../../../../../tools/cli/terminal/errors.ts';
import { closedExtraction, extractionIn, id } from '../../../../support/extraction-fixtures.ts';

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

test('it changes nothing unless starts or reads are named', async () => {
  const context = { connect: () => Promise.reject(new Error('connected')) } as unknown as Context;
  await expect(pause({ reason: 'maintenance' }, context)).rejects.toThrow('Use --starts, --reads, or both.');
});

const settles: PredictedEffect = { kind: 'settles', record: extractionIn('RUNNING') };
const orphan: PredictedEffect = { kind: 'orphan' };

/** The error without confirmation, or undefined. `typed`: whether the prompt is confirmed. */
const confirm = async (
  effect: PredictedEffect,
  stage: string,
  options: Partial<DeliverOptions> = {},
  typed = false,
): Promise<string | undefined> => {
  try {
    await requireConfirmation(effect, { status: 'FAILED', ...options }, stage, {
      confirm: async () => typed,
    });
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
};

test('a delivery that changes nothing needs no confirmation', async () => {
  expect(await confirm({ kind: 'harmless' }, 'prod')).toBeUndefined();
});

test('an orphan delivery needs --orphan', async () => {
  expect(await confirm(orphan, 'local', { yes: true }, true)).toContain('Use --orphan to send it');
  expect(await confirm(orphan, 'prod', { orphan: true })).toBeUndefined();
});

test('in the stage local --yes or the prompt confirms that a delivery settles an extraction', async () => {
  expect(await confirm(settles, 'local', { force: true })).toBe(
    `${id} is RUNNING. You, not the provider, would settle it as FAILED. Nothing was sent. Use --yes to send it.`,
  );
  expect(await confirm(settles, 'local', { yes: true })).toBeUndefined();
  expect(await confirm(settles, 'local', {}, true)).toBeUndefined();
});

test('in any other stage only --force confirms it', async () => {
  expect(await confirm(settles, 'prod', { yes: true }, true)).toContain('Use --force to send it');
  expect(await confirm(settles, 'prod', { force: true })).toBeUndefined();
});

test.each([
  [204, 204, '204: accepted; the extraction is COMPLETED (settled by webhook), closed.'],
  [401, 401, '401: refused, as the signature matches no signing key of the service.'],
  [
    204,
    401,
    '204: accepted; the extraction is COMPLETED (settled by webhook), closed. The webhook should answer 401 to a wrong signature.',
  ],
  [
    401,
    204,
    '401: refused, as the signature matches no signing key of the service. The webhook should answer 204 to a right signature.',
  ],
])('the answer %d where %d is expected is a sentence', (answer, expected, sentence) => {
  const record = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook' });
  expect(
    describeAnswer({ answer, expected, status: 'COMPLETED' }, record).replace(id, 'the extraction'),
  ).toBe(sentence);
});

test('a delivery that contradicts the recorded outcome is not called accepted', () => {
  const record = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook' });
  const sentence = describeAnswer({ answer: 204, expected: 204, status: 'FAILED' }, record);
  expect(sentence).toBe(
    `204: verified, and changed nothing: FAILED contradicts the recorded outcome, which stays. It is counted as StatusDisagreement; ${id} is COMPLETED (settled by webhook), closed.`,
  );
  const unconfirmed = describeAnswer(
    { answer: 204, expected: 204, status: 'FAILED' },
    extractionIn('UNCONFIRMED'),
  );
  expect(unconfirmed).toContain('verified, and changed nothing: no webhook settles');
});

test('an accepted delivery without an extraction is described as an orphan', () => {
  expect(describeAnswer({ answer: 204, expected: 204, status: 'FAILED' }, undefined)).toBe(
    '204: accepted, and kept as an orphan delivery.',
  );
});
