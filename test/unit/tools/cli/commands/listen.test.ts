import { expect, test } from 'vitest';
import { defined } from '#lib/defined.ts';
import { closedExtraction, extractionIn, id, iso } from '#support/data/extraction-fixtures.ts';
import {
  type DeliverOptions,
  deliver,
  describeAnswer,
  requireConfirmation,
} from '#tools/cli/commands/deliver.ts';
import { questionOf, report as reportErasure } from '#tools/cli/commands/erase.ts';
import { planOf, reportEmptyReplay } from '#tools/cli/commands/listen.ts';
import type { ListenState } from '#tools/cli/listen/listen-state.ts';
import type { PredictedEffect } from '#tools/cli/operate/sign-delivery.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';
import { CliError, UsageError } from '#tools/cli/terminal/errors.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const progress = { since: '2026-11-22T09:00:00.000Z', positions: { 'shard-1': '7' } };
const saved: ListenState = { streamArn: 'stream-1', secret: 'whsec_abc', progress };
const hoursAgo = (hours: number) => (at: Date) => new Date(at.getTime() - hours * 3_600_000);
const startingAt = (since: Date) => ({ since: since.toISOString(), positions: {} });

const firstRun = { progress: startingAt(now), atNewest: true };
const otherStream = { ...saved, streamArn: 'stream-2' };
const twoHoursAgo = { progress: startingAt(hoursAgo(2)(now)), atNewest: undefined };
const replayed = { progress: startingAt(new Date(0)), endsAt: now };

test.each([
  ['a first run starts at the end of the stream', {}, undefined, firstRun],
  ['a later run continues', {}, saved, { progress, atNewest: undefined }],
  ['a run with another stream starts at its end', {}, otherStream, firstRun],
  ['--since starts there, whatever was handled before', { since: hoursAgo(2) }, saved, twoHoursAgo],
  ['--replay starts at the oldest record, and ends', { replay: 'e-1' }, saved, replayed],
])('%s', (_, options, before, plan) => {
  const { progress: from, atNewest, endsAt } = planOf(options, before, 'stream-1', now);
  expect({ progress: from, atNewest, endsAt }).toEqual({ endsAt: undefined, ...plan });
});

test('--since is within what the stream keeps', () => {
  expect(() => planOf({ since: hoursAgo(25) }, saved, 'stream-1', now)).toThrow(UsageError);
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

test('an erasure by reference names how many extractions of how many callers, and asks for the reference', async () => {
  const found = ['ana', 'ben', 'ana'].map((requestedBy) => ({
    extractionId: 'e',
    requestedBy,
    requestedAt: iso(0),
  }));
  const find = async (_reference: string, caller?: string) =>
    found.filter(({ requestedBy }) => caller === undefined || requestedBy === caller);
  const ask = async (caller?: string) =>
    questionOf(
      undefined,
      { reference: 'r', wait: true, ...defined({ caller }) },
      {} as never,
      { find } as never,
    );
  expect(await ask()).toMatchObject({
    what: expect.stringMatching(/^3 extractions of 2 callers with/),
    words: 'r',
  });
  expect(await ask('ben')).toMatchObject({
    scope: { requestedBy: 'ben' },
    what: expect.stringMatching(/^1 extraction with/),
  });
  await expect(ask('eve')).rejects.toThrow('Nothing was erased');
});

test('an erasure that has only begun says so, and counts once something is found', () => {
  const lines = (erased: readonly (string | undefined)[], searchedAt?: string) => {
    const printed: unknown[] = [];
    const erasure = { erasureId: 'e-1', askedBy: 'ana', askedAt: iso(0), ...defined({ searchedAt }) };
    const tombstones = erased.map((erasedAt, index) => ({
      erasureId: 'e-1',
      extractionId: `x-${index}`,
      requestId: 'r',
      foundAt: iso(0),
      ...defined({ erasedAt }),
    }));
    reportErasure({ erasure, tombstones }, { print: (text) => printed.push(text) }, commandTextOf());
    return printed.flat().join(' ');
  };
  expect(lines([])).toMatch(/^The erasure has begun, and has found nothing yet\. The rest follows by itself/);
  expect(lines([undefined, iso(1)])).toMatch(/^1 of 2 erased, and the index is read again/);
  expect(lines([], iso(1))).toMatch(/^Erased: 0 extractions/);
});

test.each<[Partial<DeliverOptions>, string]>([
  [{}, 'Name one task'],
  [{ forged: true }, 'connected'],
  [{ orphan: true }, 'connected'],
])('a delivery with %j needs a task only where one has to exist: %s', async (options, message) => {
  const connect = () => Promise.reject(new Error('connected'));
  const shell = { randomId: () => 'task-of-nobody' };
  const context = { shell, connect } as unknown as Parameters<typeof deliver>[2];
  await expect(deliver(undefined, { status: 'FAILED', ...options }, context)).rejects.toThrow(message);
});

const settles: PredictedEffect = { kind: 'settles', record: extractionIn('RUNNING') };
const orphan: PredictedEffect = { kind: 'orphan' };

const refused = `${id} is RUNNING. You, not the provider, would settle it as FAILED.`;
const orphaned = expect.stringContaining('Use --orphan to send it');
const unforced = expect.stringContaining('Use --force to send it');

/** `typed`: whether the prompt is confirmed. */
test.each<[PredictedEffect, string, Partial<DeliverOptions>, boolean, unknown]>([
  [{ kind: 'harmless' }, 'prod', {}, false, undefined],
  [orphan, 'local', { yes: true }, true, orphaned],
  [orphan, 'prod', { orphan: true }, false, undefined],
  [settles, 'local', { force: true }, false, `${refused} Nothing was sent. Use --yes to send it.`],
  [settles, 'local', { yes: true }, false, undefined],
  [settles, 'local', {}, true, undefined],
  [settles, 'prod', { yes: true }, true, unforced],
  [settles, 'prod', { force: true }, false, undefined],
])('a delivery: %j in the stage %s with %j, %s: %j', async (effect, stage, options, typed, explanation) => {
  const shell = { confirm: async () => typed };
  const requiring = requireConfirmation(effect, { status: 'FAILED', ...options }, stage, shell);
  const failure = await requiring.catch((error: CliError) => error);
  expect(failure?.message).toEqual(explanation);
  if (failure !== undefined) expect(failure).toBeInstanceOf(CliError);
});

const completed = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook' });
const accepted = `204: accepted; ${id} is COMPLETED (settled by webhook), closed.`;
const contradicted =
  '204: verified, and changed nothing: FAILED contradicts the recorded outcome, which stays. It is counted as StatusDisagreement;';
const unsettled = expect.stringContaining('changed nothing: no webhook settles');
const mismatch = '401: refused, as the signature matches no signing key of the service.';

test.each([
  [204, 204, 'COMPLETED', completed, accepted],
  [204, 401, 'COMPLETED', completed, `${accepted} The webhook should answer 401 to a wrong signature.`],
  [401, 204, 'COMPLETED', completed, `${mismatch} The webhook should answer 204 to a right signature.`],
  [204, 204, 'FAILED', completed, `${contradicted} ${id} is COMPLETED (settled by webhook), closed.`],
  [204, 204, 'FAILED', extractionIn('UNCONFIRMED'), unsettled],
  [204, 204, 'FAILED', undefined, '204: accepted, and kept as an orphan delivery.'],
])('the answer %d where %d is expected, to %s', (answer, expected, status, record, sentence) => {
  expect(describeAnswer({ answer, expected, status }, record)).toEqual(sentence);
});
