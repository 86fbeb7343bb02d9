import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Advised, adviceOf, advices, judgeOutcome, outcomeText } from '#lib/extraction/advice.ts';
import { meaningOf, publicCodes } from '#lib/extraction/causes.ts';
import {
  consentProblemOf,
  failureReason,
  isProblem,
  loginProblemOf,
  problemOf,
} from '#lib/extraction/codes.ts';
import type { Advice } from '#lib/extraction/record.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import {
  InvalidProviderRequest,
  type LegacyRefusal,
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';

const ended = { collectedAt: '2026-03-01T12:00:00.000Z' };
const failedWith = (...errorCodes: readonly (string | undefined)[]) => ({
  ...ended,
  actionResults: errorCodes.map((errorCode) => (errorCode === undefined ? {} : { errorCode })),
});

// What the table of docs/stream.md does not show, which is tested below.
test.each<[status: string, more: Omit<Advised, 'status'>, advice: Advice | undefined]>([
  ['RUNNING', {}, undefined],
  ['A_STATUS_OF_A_LATER_VERSION', ended, undefined],
  ['COMPLETED', {}, undefined],
  ['PARTIAL', {}, undefined],
  ['FAILED', {}, undefined],
  ['FAILED', { reason: 'ENTITY/DOWN' }, 'request-later'],
  ['FAILED', failedWith(undefined, 'ENTITY_API_ERROR'), 'request-later'],
  ['CREDENTIALS_WRONG', { collectionError: 'InternalError' }, 'ask-user'],
  ['REJECTED', { reason: 'CONSENT/GONE' }, 'operator'],
  ['NOT_STARTED', { lastProblem: 'login-http-403/KEY' }, 'operator'],
  ['NOT_STARTED', { lastProblem: 'http-429/BUSY' }, 'request-later'],
  ['TIMED_OUT', { dueShard: 0, collectionError: 'InternalError' }, 'wait'],
  ['TIMED_OUT', { dueShard: 0, erasingAt: '2026-03-01T12:00:00.000Z' }, 'wait'],
  ['RUNNING', { erasingAt: '2026-03-01T12:00:00.000Z' }, undefined],
  ['TIMED_OUT', { collectionError: 'results-too-large' }, 'ask-provider'],
])('%s with %j: %s', (status, more, advice) => {
  expect(adviceOf({ status, ...more })).toBe(advice);
});

/** What a row of the table in docs/stream.md is about, with a sample of each code that it names. */
const samplesOf = (condition: string, status: string): readonly Omit<Advised, 'status'>[] => {
  const named = [...condition.matchAll(/`([^`]+)`/g)].map(([, code = '']) =>
    code.replace('consent-…', 'consent-revoked').replace('…', '03'),
  );
  const [first, ...others] = named;
  if (first === 'collectionError') {
    const errors = others.length === 0 ? ['ProviderBusy'] : others;
    return errors.map((collectionError) => ({ collectionError, ...ended }));
  }
  if (condition === 'collected otherwise') return [ended];
  if (condition.startsWith('collected, with')) return [{ lastProblem: 'results-incomplete', ...ended }];
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
          .replace(/\n(?:#|\nThe ).*/s, '')
          .matchAll(/^\| `([^`]+)` \| (.*) \|$/gm),
      ].map(([, name = '', meaning]) => [name, meaning]),
    );
  const sentence = (clause: string) => `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
  const meanings = publicCodes.map((code) => [code, sentence(meaningOf(code))]);
  expect(rows('Codes')).toEqual(Object.fromEntries(meanings));
  expect(rows('Advice')).toEqual({ advice: 'what to do', ...advices });
});

test.each([
  ['COMPLETED', 'well'],
  ['CREDENTIALS_LOCKED', 'user'],
  ['REJECTED consent-revoked', 'user'],
  ['REJECTED http-400', 'caller'],
  ['REJECTED http-403', 'failed'],
  ['REJECTED http-4000', 'failed'],
  ['FAILED consent-revoked', 'failed'],
  ['NOT_STARTED ciphertext-expired', 'caller'],
  ['NOT_STARTED quota-reached', 'failed'],
  ['TIMED_OUT deadline-passed', 'failed'],
  ['A_STATUS_OF_A_LATER_VERSION', 'failed'],
])('%s ended %s', (outcome, judgement) => {
  expect(judgeOutcome(outcome)).toBe(judgement);
});

test.each([
  [{ status: 'REJECTED', reason: 'http-400', lastProblem: 'http-429' }, 'REJECTED http-400'],
  [{ status: 'NOT_STARTED', reason: 'start-window-over' }, 'NOT_STARTED start-window-over'],
  [
    { status: 'NOT_STARTED', reason: 'start-window-over', lastProblem: 'ciphertext-expired' },
    'NOT_STARTED ciphertext-expired',
  ],
])('%j is "%s"', (ended, text) => {
  expect(outcomeText(ended)).toBe(text);
});

const named = <E extends Error>(error: E, errorType: string, errorCode?: string): E =>
  Object.assign(error, { named: { errorType, errorCode } });
const refusedAs = <E extends Error>(error: E, refusal: LegacyRefusal): E => Object.assign(error, { refusal });
const noAnswer = (reason: 'timeout' | 'unexpected-answer') => new ProviderAmbiguous('', { reason });

test.each<[error: unknown, problem: string]>([
  [new ProviderUnreachable(''), 'unreachable'],
  [new ProviderUnauthorized(''), 'http-401'],
  [refusedAs(new ProviderUnauthorized(''), 'jwtExpired'), 'http-401'],
  [new ProviderBusy(''), 'http-429'],
  [refusedAs(new ProviderBusy(''), 'notEnoughCredits'), 'quota-reached'],
  [refusedAs(new ProviderBusy(''), 'processAlreadyRunning'), 'user-busy'],
  [new ProviderRefused('', 403), 'http-403'],
  [refusedAs(new ProviderRefused('', 403), 'temporarilyRestricted'), 'user-restricted'],
  [refusedAs(new ProviderRefused('', 403), 'forbidden'), 'forbidden'],
  [new ProviderExtractionFailed('', { status: 500, errorType: 'INTERNAL' }), 'http-500/INTERNAL'],
  [new ProviderAmbiguous('', { status: 503 }), 'http-503'],
  [new ProviderAmbiguous('', { status: 300 }), 'redirect'],
  [named(new ProviderAmbiguous('', { status: 500 }), 'INTERNAL'), 'http-500/INTERNAL'],
  [named(new ProviderRefused('', 404), 'TASK', 'GONE'), 'http-404/TASK/GONE'],
  [named(new ProviderAmbiguous('', { status: 500 }), 'Ana Pérez, 11.111.111-1'), 'http-500/OTHER'],
  [noAnswer('timeout'), 'timeout'],
  [noAnswer('unexpected-answer'), 'unexpected-answer'],
  [new ProviderAnswerTooLarge('', 200), 'answer-too-large'],
  [new InvalidProviderRequest('', []), 'invalid-request'],
  [new NotConfigured('secret', 's'), 'secret-not-filled'],
  [new NotConfigured('setting', 's'), 'setting-missing'],
  [new TypeError('11111111-1'), 'InternalError'],
])('%o is %s', (error, problem) => {
  expect(problemOf(error)).toBe(problem);
  expect(isProblem(problem)).toBe(true);
});

test('a login has a code of its own, unless the code says all there is', () => {
  const errors = [
    new ProviderUnauthorized(''),
    new ProviderUnreachable(''),
    new NotConfigured('secret', 's'),
  ];
  expect(errors.map(loginProblemOf)).toEqual(['login-http-401', 'unreachable', 'secret-not-filled']);
});

test.each<readonly [string, { errorType: string; errorCode?: string }, string]>([
  ['a code with a number', { errorType: 'ENTITY', errorCode: 'E1042' }, 'ENTITY/E1042'],
  ['hyphens and dots', { errorType: 'entity-error', errorCode: 'bank.down' }, 'entity_error/bank_down'],
  ['a sentence, and nothing', { errorType: 'The user Ana is not known', errorCode: '' }, 'OTHER/OTHER'],
  ['a national id', { errorType: '11111111-1', errorCode: 'RUT-11.111.111-1' }, 'OTHER/OTHER'],
  ['as much as a word may have', { errorType: 'X'.repeat(64) }, 'X'.repeat(64)],
  ['what is too long for a word', { errorType: 'X'.repeat(65) }, 'OTHER'],
])('the reason of a failure that names %s', (_what, failure, reason) => {
  expect(failureReason(failure)).toBe(reason);
});

test.each(['See the log of start-task.', '', '11111111-1', 'A12345', 'x'.repeat(201), null, 1])(
  '%j of a failed state is no problem',
  (cause) => {
    expect(isProblem(cause)).toBe(false);
  },
);

test.each([
  ['INACTIVE', 'EXPIRED', 'consent-expired'],
  ['INACTIVE', 'REVOKED', 'consent-revoked'],
  ['INACTIVE', 'INVALID_PASSWORD', 'consent-invalid-password'],
  ['INACTIVE', 'DISCARDED', 'consent-discarded'],
  ['INACTIVE', 'ONE_SHOT_ALREADY_USED', 'consent-one-shot-already-used'],
  ['INACTIVE', 'A_NEW_ONE', undefined],
  ['INACTIVE', 'constructor', undefined],
  ['INACTIVE', null, undefined],
  ['ACTIVE', 'EXPIRED', undefined],
])('a consent that is %s, %s gives the reason %s', (status, subStatus, reason) => {
  expect(consentProblemOf({ status, subStatus })).toBe(reason);
});
