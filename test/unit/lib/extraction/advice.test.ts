import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Advice, type Advised, adviceOf, advices, codes } from '../../../../lib/extraction/advice.ts';

const ended = { collectedAt: '2026-03-01T12:00:00.000Z' };
const failedWith = (...errorCodes: readonly (string | undefined)[]) => ({
  ...ended,
  actionResults: errorCodes.map((errorCode) => (errorCode === undefined ? {} : { errorCode })),
});

test.each<[status: string, more: Omit<Advised, 'status'>, advice: Advice | undefined]>([
  ['COMPLETED', ended, 'none'],
  ['COMPLETED', {}, undefined],
  ['COMPLETED', { collectionError: 'results-too-large' }, 'fix-request'],
  ['PARTIAL', { collectionError: 'results-not-stored' }, 'operator'],
  ['COMPLETED', { collectionError: 'InternalError' }, 'operator'],
  ['FAILED', { collectionError: 'read-ends-process' }, 'operator'],
  ['COMPLETED', { collectionError: 'request-data-gone' }, 'operator'],
  ['COMPLETED', { collectionError: 'task-linked-elsewhere' }, 'operator'],
  ['PARTIAL', { collectionError: 'ProviderAmbiguous' }, 'request-again'],
  ['CREDENTIALS_WRONG', {}, 'ask-user'],
  ['CREDENTIALS_WRONG', { collectionError: 'InternalError' }, 'ask-user'],
  ['CREDENTIALS_LOCKED', ended, 'ask-user'],
  ['PARTIAL', {}, undefined],
  ['FAILED', {}, undefined],
  ['PARTIAL', failedWith(undefined, 'REQUEST_BLOCK_ERROR'), 'request-later'],
  ['FAILED', failedWith('ENTITY_API_ERROR', 'TIMEOUT_ERROR'), 'request-later'],
  ['FAILED', failedWith('TIMEOUT_ERROR'), 'request-again'],
  ['PARTIAL', failedWith('A_NEW_CODE'), 'request-again'],
  ['FAILED', ended, 'request-again'],
  ['FAILED', { reason: 'ENTITY/DOWN' }, 'request-later'],
  ['FAILED', { reason: 'wrong_login', ...ended }, 'request-later'],
  ['REJECTED', { reason: 'user-restricted' }, 'ask-user'],
  ['REJECTED', { reason: 'consent-expired' }, 'renew-consent'],
  ['REJECTED', { reason: 'consent-of-a-later-version' }, 'renew-consent'],
  ['REJECTED', { reason: 'http-400' }, 'fix-request'],
  ['REJECTED', { reason: 'http-422' }, 'fix-request'],
  ['REJECTED', { reason: 'invalid-request' }, 'fix-request'],
  ['REJECTED', { reason: 'session-token-refused' }, 'fix-request'],
  ['REJECTED', { reason: 'http-403' }, 'operator'],
  ['REJECTED', { reason: 'forbidden' }, 'operator'],
  ['REJECTED', { reason: 'CONSENT/GONE' }, 'operator'],
  ['NOT_STARTED', { lastProblem: 'login-http-401' }, 'operator'],
  ['NOT_STARTED', { lastProblem: 'login-http-403/KEY' }, 'operator'],
  ['NOT_STARTED', { lastProblem: 'secret-not-filled' }, 'operator'],
  ['NOT_STARTED', { lastProblem: 'ciphertext-expired' }, 'fix-request'],
  ['NOT_STARTED', { lastProblem: 'quota-reached' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'http-429' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'http-429/BUSY' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'login-http-429' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'unreachable' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'held/http-503' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'login-http-503' }, 'request-later'],
  ['NOT_STARTED', { lastProblem: 'user-busy' }, 'request-again'],
  ['NOT_STARTED', { reason: 'start-window-over' }, 'request-again'],
  ['UNCONFIRMED', { reason: 'task-linked-elsewhere' }, 'operator'],
  ['UNCONFIRMED', { reason: 'http-503' }, 'ask-provider'],
  ['UNCONFIRMED', { reason: 'start-call-unanswered' }, 'ask-provider'],
  ['TIMED_OUT', { dueShard: 0, collectionError: 'InternalError' }, 'wait'],
  ['TIMED_OUT', {}, 'ask-provider'],
  ['TIMED_OUT', { collectionError: 'results-too-large' }, 'ask-provider'],
  ['TIMED_OUT', { collectionError: 'read-ends-process' }, 'operator'],
  ['TIMED_OUT', { collectionError: 'InternalError' }, 'operator'],
  ['RUNNING', {}, undefined],
  ['A_STATUS_OF_A_LATER_VERSION', ended, undefined],
])('%s with %j: %s', (status, more, advice) => {
  expect(adviceOf({ status, ...more })).toBe(advice);
});

/** What a row of the table in docs/stream.md is about, with a sample of each code that it names. */
const samplesOf = (condition: string, status: string): readonly Omit<Advised, 'status'>[] => {
  const named = [...condition.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace('…', '03'));
  const [first, ...others] = named;
  if (first === 'collectionError') {
    const errors = others.length === 0 ? ['ProviderBusy'] : others;
    return errors.map((collectionError) => ({ collectionError, ...ended }));
  }
  if (condition === 'collected') return [ended];
  if (condition === 'the record is open') return [{ dueShard: 0 }];
  if (status === 'FAILED for consent') return [{ reason: 'ENTITY/DOWN', ...ended }];
  if (condition.includes('error codes')) return named.map((code) => failedWith('TIMEOUT_ERROR', code));
  if (condition.includes('any other code')) return [failedWith('A_NEW_CODE'), ended];
  const field = status === 'NOT_STARTED' ? 'lastProblem' : 'reason';
  return named.length === 0 ? [{}, { [field]: 'A_NEW_CODE' }] : named.map((code) => ({ [field]: code }));
};

test('docs/stream.md has the same rule as a table', () => {
  const [, table = ''] = readFileSync('docs/stream.md', 'utf8').split('The first row that fits decides:\n\n');
  const [, ...rows] = table.matchAll(/^\|(.*)\|(.*)\| `([\w-]+)` \|$/gm);
  let last = '';
  const decided = rows.flatMap(([, cell = '', condition = '', advice]) => {
    last = cell.replaceAll('`', '').trim() || last;
    return last.split(', ').flatMap((status) =>
      samplesOf(condition.trim(), status).map((more) => {
        const of = { status: status.replace(' for consent', ''), ...more };
        return { of, documented: advice, is: adviceOf(of) };
      }),
    );
  });
  expect(decided.length).toBeGreaterThan(50);
  expect(decided.filter(({ documented, is }) => documented !== is)).toEqual([]);
});

test('docs/stream.md has every code and every advice, with these meanings', () => {
  const page = readFileSync('docs/stream.md', 'utf8');
  const rows = (heading: string): Record<string, string | undefined> =>
    Object.fromEntries(
      [
        ...(page.split(`\n### ${heading}\n`)[1] ?? '')
          .replace(/\n\nThe .*/s, '')
          .matchAll(/^\| `([^`]+)` \| (.*) \|$/gm),
      ].map(([, name = '', meaning]) => [name, meaning]),
    );
  const sentence = (clause: string) => `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
  const documented = rows('Codes');
  for (const [code, meaning] of Object.entries(codes))
    expect([code, documented[code]]).toEqual([code, sentence(meaning)]);
  expect(rows('Advice')).toMatchObject(advices);
});
