import { expect, test } from 'vitest';
import { notBeforeAfter429, notBeforeAfter429Or503 } from '#lib/extraction/codes.ts';
import { shownBy } from '#lib/extraction/start/start-call.ts';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';
import { TransportFailure } from '#lib/provider/transport/transport-failure.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const lost = new TransportFailure(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
const invalidHeader = new TransportFailure(Object.assign(new Error('x'), { code: 'ERR_INVALID_CHAR' }));

const trouble = (cause: string) => ({ kind: 'failed', cause });
const nothing = { kind: 'nothing' };

test.each([
  [new ProviderUnreachable('a failed connect', { cause: lost }), trouble('unreachable')],
  [new ProviderAmbiguous('a timeout or reset', { cause: lost, reason: 'reset' }), trouble('reset')],
  [new ProviderAmbiguous('500', { status: 500 }), trouble('http-500')],
  [new ProviderExtractionFailed('errorType', { status: 500, errorType: 'X' }), trouble('http-500')],
  [new ProviderUnauthorized('401'), nothing],
  [new ProviderRefused('403', 403), nothing],
  [new ProviderAmbiguous('408', { status: 408 }), nothing],
  [new ProviderBusy('429'), nothing],
  [new ProviderAmbiguous('302', { status: 302 }), nothing],
  [new ProviderExtractionFailed('errorType', { status: 422, errorType: 'X' }), nothing],
  [new ProviderAmbiguous('an unreadable answer'), nothing],
  [new ProviderUnreachable('a refused header, of one token', { cause: invalidHeader }), nothing],
  [new Error('one of our own, of KMS'), nothing],
])('%s shows of the provider: %o', (error, shown) => {
  expect(shownBy(error, now)).toEqual(shown);
});

test('Retry-After of a 503 delays the breaker, and its own extraction unless the call was for a token', () => {
  const error = new ProviderAmbiguous('503', { status: 503 });
  Object.assign(error, { retryAfter: { kind: 'delay', seconds: 60 } });
  const retryAt = now.getTime() + 60_000;
  expect(shownBy(error, now)).toEqual({ kind: 'failed', cause: 'http-503', retryAt });
  expect(notBeforeAfter429Or503(error, now)).toBe('2026-03-01T12:01:00.000Z');
  expect(notBeforeAfter429(error, now)).toBeUndefined();
});
