import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  consentProblemOf,
  isProblem,
  loginProblemOf,
  problemOf,
} from '../../../../lib/extraction/provider-codes.ts';
import { NotConfigured } from '../../../../lib/not-configured.ts';
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
} from '../../../../lib/provider/transport/errors.ts';

const named = <E extends Error>(error: E, errorType: string, errorCode?: string): E =>
  Object.assign(error, { named: { errorType, errorCode } });
const refusedAs = <E extends Error>(error: E, refusal: LegacyRefusal): E => Object.assign(error, { refusal });
const noAnswer = (why: 'timeout' | 'reset' | 'not-json' | 'unexpected-answer') =>
  new ProviderAmbiguous('', { why });

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
  [new ProviderAmbiguous('', { status: 408 }), 'http-408'],
  [new ProviderAmbiguous('', { status: 302 }), 'redirect'],
  [named(new ProviderAmbiguous('', { status: 500 }), 'INTERNAL'), 'http-500/INTERNAL'],
  [named(new ProviderRefused('', 404), 'TASK', 'GONE'), 'http-404/TASK/GONE'],
  [named(new ProviderAmbiguous('', { status: 500 }), 'Ana Pérez, 11.111.111-1'), 'http-500/OTHER'],
  [noAnswer('timeout'), 'timeout'],
  [noAnswer('reset'), 'reset'],
  [noAnswer('not-json'), 'not-json'],
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

test('whatever an answer names, the code of it has no text of it', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (errorType, errorCode) => {
      expect(problemOf(named(new ProviderAmbiguous('', { status: 500 }), errorType, errorCode))).toMatch(
        /^http-500\/[A-Za-z]\w{0,63}(\/[A-Za-z]\w{0,63})?$/,
      );
    }),
  );
});

test.each([
  'See the log of start-task.',
  '{"errorMessage":"x"}',
  '',
  '11111111-1',
  'A12345',
  'x'.repeat(201),
  null,
  1,
])('%j of a failed state is no problem', (cause) => {
  expect(isProblem(cause)).toBe(false);
});

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
  ['IN_PROGRESS', 'IN_PROGRESS', undefined],
])('a consent that is %s, %s gives the reason %s', (status, subStatus, reason) => {
  expect(consentProblemOf({ status, subStatus })).toBe(reason);
});
