import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import type { PublicExtraction } from '#lib/extraction/api/public-view.ts';
import { preparePython } from '../../tools/local/emulator/python-environment.ts';
import { eventually } from '../support/eventually.ts';
import { findProgram } from '../support/programs/describe-if-installed.ts';
import type { Caller } from './deployment.ts';
import {
  extract,
  extractionIdForKey,
  find,
  requestFor,
  summaryOf,
  uniqueUsername,
} from './support/call-extractions.ts';
import { closed } from './support/records.ts';

const { api, outputs } = inject('cosecha');

test('the traceparent of the first request stays in the record to its close, and an invalid one is ignored', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const request = requestFor(uniqueUsername());
  const idempotencyKey = randomUUID();
  const traced = await extract(request, { idempotencyKey, traceparent });
  await extract(request, { idempotencyKey, traceparent: traceparent.replace('00f0', '11f0') });
  const untraced = await extract(requestFor(uniqueUsername()), { traceparent: 'not a traceparent' });
  expect(await closed(traced)).toMatchObject({ status: 'COMPLETED', traceparent });
  expect(await closed(untraced)).not.toHaveProperty('traceparent');
});

test('extractions are found by their reference, and counted by their batch, each caller its own', async () => {
  const reference = `Bestellung ä+%&#/ ${randomUUID()}`;
  const batch = `batch of ${reference}`;
  const request = () => requestFor(uniqueUsername(), { reference, batch });
  const older = await extract(request());
  const foreign = await extract(request(), { caller: 'stranger' });
  const newer = await extract(request());
  const page = async (query = '', caller: Caller = 'caller') => {
    const answer = await find(`reference=${encodeURIComponent(reference)}${query}`, caller);
    const { extractions = [], cursor } = (await answer.json()) as {
      readonly extractions?: readonly PublicExtraction[];
      readonly cursor?: string;
    };
    return { status: answer.status, ids: extractions.map(({ extractionId }) => extractionId), cursor };
  };
  // The index is eventually consistent.
  await eventually(async () =>
    expect(await page()).toEqual({ status: 200, ids: [newer, older], cursor: undefined }),
  );
  expect((await page('', 'stranger')).ids).toEqual([foreign]);
  const first = await page('&limit=1');
  expect(first.ids).toEqual([newer]);
  expect(await page(`&limit=1&cursor=${first.cursor}`)).toEqual({
    status: 200,
    ids: [older],
    cursor: undefined,
  });
  expect(await page(`&cursor=${foreign}`)).toMatchObject({ status: 400, ids: [] });
  await Promise.all([older, foreign, newer].map(closed));
  const counted = { batch, isComplete: true, open: 0 };
  const counts = (extractions: number) => [{ status: 'COMPLETED', advice: 'none', extractions }];
  expect(await summaryOf(batch)).toEqual({ ...counted, extractions: 2, counts: counts(2) });
  expect(await summaryOf(batch, 'stranger')).toEqual({ ...counted, extractions: 1, counts: counts(1) });
});

test('the first requests of docs/api.md work as they stand, by curl and in Python', async () => {
  const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const block = (start: string) => new RegExp(`^${start}[\\s\\S]*?(?=^\`\`\`$)`, 'm').exec(page)?.[0] ?? '';
  const { caFile, callers, client } = inject('cosecha');
  const env = {
    PATH: process.env.PATH,
    API_URL: api,
    AWS_REGION: client.region,
    SSL_CERT_FILE: caFile,
    AWS_ACCESS_KEY_ID: callers.caller.accessKeyId,
    AWS_SECRET_ACCESS_KEY: callers.caller.secretAccessKey,
  };
  // By host, as on AWS: curl signs a path as it is written, and SigV4 wants the `$` in the emulator's encoded. The certificate
  // does not have that host.
  const { host } = new URL(api);
  const API_URL = `https://${outputs.ApiId}.execute-api.localhost:${host.split(':')[1]}`;
  const CURL_HOME = mkdtempSync(join(tmpdir(), 'cosecha-curl-'));
  writeFileSync(join(CURL_HOME, '.curlrc'), 'insecure');
  const run = promisify(execFile);
  const [byCurl, byPython] = await Promise.all([
    run('bash', ['-c', block('call\\(\\)')], { env: { ...env, API_URL, CURL_HOME } }),
    run(await preparePython(), ['-c', block('import json')], { env }),
  ]);
  for (const [{ stdout }, key] of [[byCurl, 'with-curl'] as const, [byPython, 'with-python'] as const]) {
    expect(stdout).toContain(extractionIdForKey(key));
    await closed(extractionIdForKey(key));
  }
  // The first block replays the request, and sets what the other needs. In zsh as a Mac has it, where there is one.
  const [shell = '', ...flags] = findProgram('zsh') === undefined ? ['bash'] : ['zsh', '-f', '-i'];
  const pasting = run(shell, flags, { env: { ...env, API_URL, CURL_HOME } });
  pasting.child.stdin?.end(`${block('call\\(\\)')}${block('call .*EXTRACTION_ID')}`);
  const { stdout } = await pasting;
  const followed: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(followed).toMatchObject({ extractionId: extractionIdForKey('with-curl'), status: 'COMPLETED' });
});
