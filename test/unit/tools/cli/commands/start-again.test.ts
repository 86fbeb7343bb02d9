import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test, vi } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { commandIn } from '#support/command-shell.ts';
import {
  at,
  closedExtraction,
  consentIn,
  extractionIn,
  id,
  idOf,
  iso,
} from '#support/data/extraction-fixtures.ts';
import { startAgain } from '#tools/cli/commands/start-again.ts';
import { againOf } from '#tools/cli/operate/start-again.ts';

const closedConsent = (digit: number, more: Partial<Extraction>): Extraction => {
  const { dueShard: _shard, dueAt: _due, ...record } = consentIn('RUNNING');
  return {
    ...record,
    extractionId: idOf(digit),
    batch: 'morning',
    settledAt: iso(30),
    ...more,
  } as Extraction;
};
const again = closedConsent(2, { status: 'NOT_STARTED', reason: 'start-window-over' });
const later = closedConsent(3, { status: 'NOT_STARTED', lastProblem: 'quota-reached' });
const renew = closedConsent(4, { status: 'REJECTED', reason: 'consent-revoked' });
const wrong = closedExtraction({ extractionId: idOf(5), status: 'CREDENTIALS_WRONG', settledAt: iso(30) });
const byCredentials = closedExtraction({ extractionId: idOf(6), status: 'NOT_STARTED', settledAt: iso(30) });

test.each([
  [again, 'request'],
  // Not within an hour of its outcome, at 30 s.
  [later, 'request-later'],
  [renew, 'ask'],
  [wrong, 'ask'],
  [byCredentials, 'ask'],
  [closedConsent(7, { status: 'UNCONFIRMED' }), 'ask-provider'],
  [closedConsent(7, { status: 'NOT_STARTED', lastProblem: 'cancelled' }), 'none'],
  [{ ...again, batch: 'new' }, 'of the new batch'],
  [extractionIn('TIMED_OUT'), 'open'],
])('%j: %s', (record, kind) => {
  expect(againOf(record, 'new', at(3_629))).toBe(kind);
});

test('an hour after its outcome, what is to be requested later is requested', () => {
  expect(againOf(later, 'new', at(3_630))).toBe('request');
});

/** `start-again --batch morning --as new` over these records, and an API that knows keys. */
const run = (records: readonly Extraction[], options: object = {}, targets = '{}') => {
  const sent = new Map<string | null, unknown>();
  const fetch = async (_: unknown, init?: RequestInit) => {
    const key = new Headers(init?.headers).get('idempotency-key');
    const status = sent.has(key) ? 200 : 202;
    sent.set(key, JSON.parse(String(init?.body)));
    const headers: Record<string, string> = status === 200 ? { 'idempotency-replayed': 'true' } : {};
    return Response.json({ extractionId: id, status: 'REQUESTED' }, { status, headers });
  };
  const handle = async ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => {
    const Items = records.map(({ extractionId, requestedBy, requestedAt }) =>
      marshall({ extractionId, requestedBy, requestedAt, batch: 'morning' }),
    );
    const all = { T: records.map((record) => marshall(record, { removeUndefinedValues: true })) };
    const answer = headers['x-amz-target']?.endsWith('Query') ? { Items } : { Responses: all };
    const body = new TextEncoder().encode(JSON.stringify(answer));
    return { response: { statusCode: 200, headers: {}, body } };
  };
  const confirm = vi.fn(async () => false);
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const deployment = {
    client: { region: 'eu-west-1', credentials, requestHandler: { handle } },
    output: () => 'T',
    api: { base: 'https://api.example', fetch },
    stackName: 'Cosecha-prod',
  };
  const { context, files, printed, facts } = commandIn(deployment, {
    confirm,
    readText: async () => targets,
  });
  const once = () => startAgain({ batch: 'morning', as: 'new', targets: 'ids.json', ...options }, context);
  return { once, sent, files, printed, facts, confirm };
};

const all = [again, renew, { ...byCredentials, batch: 'morning', reference: 'user-6' } as Extraction];
const todo = { advice: ['todo'], yes: true };
const { consentId } = again as { readonly consentId?: string };
const ids = JSON.stringify({ [String(consentId)]: '11111111-1' });

test('what is by consent is requested as a batch, and of the others it writes whom to ask', async () => {
  const { once, sent, files, facts } = run(all, { ...todo, ask: 'ask.csv' }, ids);
  expect(await once()).toBe(0);
  const request = {
    method: 'consent',
    consentId,
    target: '11111111-1',
    batch: 'new',
    priority: 'background',
  };
  expect([...sent]).toEqual([[`again-${again.extractionId}`, expect.objectContaining(request)]]);
  const [, ...lines] = files['ask.csv']?.trimEnd().split('\n') ?? [];
  expect(lines.map((line) => line.slice(0, 36)).toSorted()).toEqual([
    renew.extractionId,
    byCredentials.extractionId,
  ]);
  expect(files['ask.csv']).not.toContain('11111111-1');
  expect(facts.at(-1)).toMatchObject({
    batch: 'new',
    requestable: 1,
    toAsk: 2,
    requested: 1,
    requestedBefore: 0,
  });
});

test('a second run starts nothing twice', async () => {
  const { once, facts } = run(all, todo, ids);
  await once();
  expect(await once()).toBe(0);
  expect(facts.at(-1)).toMatchObject({ requested: 0, requestedBefore: 1 });
});

test('a dry run, and a prompt that is not confirmed, request nothing', async () => {
  const dry = run(all, { advice: ['todo'], dryRun: true });
  expect(await dry.once()).toBe(0);
  expect(dry.printed).toEqual([
    '1 by consent can be requested again, as the batch new.',
    '2 need their user first. --ask <file> writes who.',
  ]);
  const asked = run(all, {}, ids);
  await expect(asked.once()).rejects.toThrow('Nothing was requested');
  expect(asked.confirm).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('Cosecha-prod'), '1');
  expect(dry.sent.size + asked.sent.size).toBe(0);
});

test('a consent without its national id is counted, and the exit code is 1', async () => {
  const { once, facts, sent } = run(all, todo, '{"another":"11111111-1"}');
  expect(await once()).toBe(1);
  expect([facts.at(-1), sent.size]).toEqual([expect.objectContaining({ unknown: 1, requested: 0 }), 0]);
});
