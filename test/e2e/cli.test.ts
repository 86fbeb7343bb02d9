/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { temporaryDirectory } from '../support/programs/temporary-directory.ts';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { ageByAnHour } from './support/backdate.ts';
import {
  extract,
  passwordSentinel,
  provider,
  requestFor,
  uniqueUsername,
} from './support/call-extractions.ts';
import { closed } from './support/records.ts';
import { cosecha, cosechaAsCaller, factsOf } from './support/run-cosecha.ts';
import { quietlyRunning } from './support/running-extractions.ts';
import { uniqueNationalId } from './support/searched-secrets.ts';

const { outputs } = inject('cosecha');
const table = outputs.ExtractionsTableName ?? '';

const credentials = (username: string) => JSON.stringify({ username, password: passwordSentinel });
const balance = ['--entity', 'sandbox-bank', '--action', 'product-balance'];

// One at a time: each command is a process, and other test files run at the same time.
describe('cosecha, for a caller', { concurrent: false }, () => {
  test('start requests an extraction with credentials from standard input, and watches it until it is closed', async () => {
    const args = ['start', ...balance, '--reference', 'by cli', '--watch', '--json'];
    const { code, stdout, stderr } = await cosecha(args, credentials(uniqueUsername()));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [requested, ...changes] = factsOf({ stdout });
    expect(requested).toMatchObject({ status: expect.any(String), replayed: expect.any(Boolean) });
    expect(changes.at(-1)).toMatchObject({ status: 'COMPLETED', closed: true });
  });

  test('start requests an extraction under a consent, with the national id from standard input', async () => {
    const target = uniqueNationalId();
    const { consentId } = await provider.createConsent({ owner: target, products: ['movement'] });
    const args = ['start', '--consent', consentId, '--product', 'movement', '--watch'];
    const { code, stdout } = await cosecha(args, target);
    expect(stdout).toContain('COMPLETED (settled by reconcile), collected, closed');
    expect(code).toBe(0);
  });

  test('get prints the record without its fingerprint, and stores the results in a private file', async () => {
    const extractionId = await extract(requestFor(uniqueUsername()));
    const record = await closed(extractionId);
    const { fingerprint: _fingerprint, ...view } = record;
    const expiresAt = new Date(Number(view.expiresAt) * 1_000).toISOString();
    expect(factsOf(await cosecha(['get', extractionId, '--json']))).toEqual([{ ...view, expiresAt }]);

    const file = join(temporaryDirectory(), 'results.json');
    const stored = await cosecha(['get', extractionId, '--results', file]);
    expect(stored).toMatchObject({ code: 0, stderr: '' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file)).byteLength).toBe(record.results?.bytes);
  });

  test('list shows an open extraction, deliver needs a confirmation, and watch exits 3 unless it is COMPLETED', async () => {
    const { extractionId, taskId } = await quietlyRunning();
    const listed = factsOf(await cosecha(['list', '--open', '--status', 'RUNNING', '--json']));
    expect(listed.find((item) => item.extractionId === extractionId)).toMatchObject({
      status: 'RUNNING',
      taskId,
    });

    const target = ['deliver', '--extraction', extractionId, '--status', 'FAILED'];
    const refused = await cosecha(target);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('You, not the provider, would settle it as FAILED.');
    // A busy machine may answer a delivery 5xx, as the provider's own.
    await eventually(async () => {
      const forged = await cosecha([...target, '--forged', '--json']);
      expect(factsOf(forged)).toMatchObject([{ answer: 401, status: 'RUNNING' }]);
      expect(forged.code).toBe(0);
    });

    const impatient = await cosecha(['watch', extractionId, '--timeout', '1s', '--json']);
    expect(impatient).toMatchObject({ code: 4, stderr: '' });

    const watching = cosecha(['watch', extractionId, '--json']);
    await eventually(async () => {
      const delivered = await cosecha([...target, '--encrypted', '--yes', '--json']);
      expect(factsOf(delivered)).toMatchObject([{ taskId, answer: 204, status: 'FAILED' }]);
    });
    // The provider has to end the task too, before its results can be collected.
    await provider.finish(taskId, 'FAILED');
    const watched = await watching;
    expect(watched.code).toBe(3);
    expect(factsOf(watched).at(-1)).toMatchObject({ status: 'FAILED', settledBy: 'webhook', closed: true });
  });
});

describe('cosecha, for an operator', { concurrent: false }, () => {
  test('reconcile reconciles one extraction now', async () => {
    const { extractionId, taskId } = await quietlyRunning();
    const early = factsOf(await cosecha(['reconcile', extractionId, '--json']));
    expect(early).toMatchObject([{ extractionId, status: 'RUNNING', closed: false, deferred: true }]);
    await provider.finish(taskId, 'COMPLETED');
    const { code, stdout } = await cosecha(['reconcile', extractionId, '--json']);
    expect(code).toBe(0);
    expect(factsOf({ stdout })).toMatchObject([{ extractionId, status: 'COMPLETED', closed: true }]);
  });

  test('list finds a closed extraction by its status and its reference, and erase removes it', async () => {
    const reference = randomUUID();
    const extractionId = await extract(requestFor(uniqueUsername(), { reference }));
    await closed(extractionId);
    const idsIn = async (...args: readonly string[]) =>
      factsOf(await cosecha(['list', ...args, '--json'])).map((item) => item.extractionId);
    expect(await idsIn('--reference', reference)).toEqual([extractionId]);
    expect(await idsIn('--status', 'COMPLETED', '--csv')).toContain(extractionId);
    await ageByAnHour(extractionId);

    const unconfirmed = await cosecha(['erase', extractionId]);
    expect(unconfirmed.stderr).toContain('Nothing was erased: type its id');
    const { code, stdout } = await cosecha(['erase', extractionId, '--yes']);
    expect(stdout).toContain('Erased: 1 extraction, with results, task, request and record.');
    expect(code).toBe(0);

    expect(await idsIn('--reference', reference)).toEqual([]);
    expect((await cosecha(['get', extractionId])).stderr).toContain('There is no extraction');
    await eventually(async () =>
      expect((await cosecha(['explain', extractionId])).stdout).toContain('The record was erased at'),
    );
  });

  test('start-again requests what failed by consent as a batch, and writes whom to ask of the others', async () => {
    const batch = randomUUID();
    const consent = await authorized({ failure: { status: 422, errorType: 'NO_DATA' } });
    const failed = await extract(consentRequest(consent, { batch, reference: 'by-consent' }));
    const wrong = await extract(requestFor('credentials-wrong', { batch, reference: 'user-7' }));
    await Promise.all([failed, wrong].map(closed));
    const directory = temporaryDirectory();
    const [targets, ask] = [join(directory, 'ids.json'), join(directory, 'ask.csv')];
    await writeFile(targets, JSON.stringify({ [consent.consentId]: consent.target }));
    const filter = ['--advice', 'todo', '--batch', batch, '--as', `${batch}-again`, '--json'];
    const startAgain = async (...more: readonly string[]) =>
      factsOf(await cosecha(['start-again', ...filter, '--targets', targets, ...more])).at(-1);
    // Its advice is request-later: not within an hour.
    expect(await startAgain('--dry-run')).toMatchObject({
      requestable: 0,
      toAsk: 1,
      leftOut: { 'request-later': 1 },
    });
    await ageByAnHour(failed);
    expect(await startAgain('--ask', ask, '--yes')).toMatchObject({ requested: 1, refused: 0, toAsk: 1 });
    expect(await startAgain('--yes')).toMatchObject({ requested: 0, requestedBefore: 1 });
    expect(await readFile(ask, 'utf8')).toMatch(/,user-7,.*,ask-user,/);
    const { stdout } = await cosecha(['list', '--batch', `${batch}-again`, '--json']);
    expect(factsOf({ stdout })).toMatchObject([{ consentId: consent.consentId, reference: 'by-consent' }]);
  });

  test('export writes extractions as events, by a scan or by an index', async () => {
    const batch = randomUUID();
    const extractionId = await extract(requestFor(uniqueUsername(), { batch }));
    await closed(extractionId);
    const directory = temporaryDirectory();
    const exported = async (...options: readonly string[]) => {
      const path = join(directory, randomUUID());
      const { stderr } = await cosecha(['export', ...options, '--output', path, '--yes']);
      expect(stderr).toMatch(/^This reads some [\d,]+ records: [\d,]+ read units, \$0\.00 in us-east-1/);
      const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
      return lines.map((line) => (JSON.parse(line) as { extractionId: string }).extractionId);
    };
    expect(await exported('--batch', batch)).toEqual([extractionId]);
    expect(await exported('--since', '1d', '--status', 'COMPLETED')).toContain(extractionId);
    const results = join(directory, 'results');
    await cosecha(['export', '--batch', batch, '--results', results, '--yes']);
    expect((await readdir(results)).toSorted()).toEqual(
      [`${extractionId}.json`, 'extractions.jsonl'].toSorted(),
    );
  });

  test('doctor finds no failure in a healthy deployment', async () => {
    await eventually(async () => {
      const examined = await cosecha(['doctor', '--provider', '--json']);
      // Concurrent tests leave due records, dead letters and alarms.
      const ofOthers = /overdue|dead-letter queue|ALARM|alarms/;
      const findings = factsOf(examined).filter(({ message }) => !ofOthers.test(String(message)));
      expect(findings.filter(({ result }) => result === 'failed')).toEqual([]);
      const provider = expect.stringMatching(/^provider http.* API key/);
      expect(findings).toContainEqual(expect.objectContaining({ result: 'passed', message: provider }));
      expect(examined.stderr).toBe('');
    });
  });

  test('logs, list and output print what the runbook asks them for', async () => {
    const { extractionId } = await closed(await extract(requestFor('completed')));
    await eventually(async () => {
      const asked = '--status COMPLETED FAILED --since 2h --json';
      const { stdout } = await cosecha(['list', ...asked.split(' ')]);
      const found = factsOf({ stdout }).find((one) => one.extractionId === extractionId);
      expect(found).toMatchObject({ settledAt: expect.stringMatching(/Z$/), advice: 'none' });
      const logs = await cosecha(['logs', 'start-task', '--json']);
      const lines = factsOf(logs).map(({ line }) => line);
      expect(lines).toContainEqual(expect.objectContaining({ extractionId, level: 'INFO' }));
      expect((await cosecha(['logs', '--errors'])).stdout).not.toContain('"INFO"');
    });
    expect((await cosecha(['output', 'ExtractionsTableName'])).stdout).toBe(`${table}\n`);
    const all = factsOf(await cosecha(['output', '--json']));
    expect(all).toContainEqual({ name: 'ExtractionsTableName', value: table });
    const sweep = await cosecha(['output', 'SafetyNetSweep', '--resource', 'Events::Rule']);
    expect(sweep.stdout).toMatch(/^Cosecha-local-SafetyNetSweep\w+-\w+\n$/);
  });

  test('an error names the missing permission', async () => {
    const { code, stderr } = await cosechaAsCaller(['list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^AWS does not allow \S+ to cloudformation:DescribeStacks.*\. That permission is missing/,
    );
  });
});
