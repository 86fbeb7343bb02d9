import { describe, expect, test } from 'vitest';
import { shownBy } from '../../../../lib/breaker/circuit-breaker.ts';
import { busyUntil, notBeforeOf } from '../../../../lib/extraction/deadlines.ts';
import {
  ProviderAmbiguous,
  ProviderBusy,
  type ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../../../../lib/provider/transport/errors.ts';
import { TransportFailure } from '../../../../lib/provider/transport/transport-failure.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const lost = new TransportFailure(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
const invalidHeader = new TransportFailure(Object.assign(new Error('x'), { code: 'ERR_INVALID_CHAR' }));

test.each([
  ['a failed connect', new ProviderUnreachable('connect', { cause: lost }), 'unreachable'],
  ['a timeout or reset', new ProviderAmbiguous('lost', { cause: lost, why: 'reset' }), 'reset'],
  ['500', new ProviderAmbiguous('500', { status: 500 }), 'http-500'],
  ['503', new ProviderAmbiguous('503', { status: 503 }), 'http-503'],
  ['500 with errorType', new ProviderExtractionFailed('500', { status: 500, errorType: 'X' }), 'http-500'],
])('%s means that the provider is in trouble, and is the cause %s', (_, error, cause) => {
  expect(shownBy(error, now)).toEqual({ kind: 'failed', cause });
});

test.each([
  ['401', new ProviderUnauthorized('401')],
  ['403', new ProviderRefused('403', 403)],
  ['408', new ProviderAmbiguous('408', { status: 408 })],
  ['429', new ProviderBusy('429')],
  ['302', new ProviderAmbiguous('302', { status: 302 })],
  ['422 with errorType', new ProviderExtractionFailed('422', { status: 422, errorType: 'X' })],
  ['an unreadable answer', new ProviderAmbiguous('unreadable')],
  [
    "a header that Node refuses, of one caller's token",
    new ProviderUnreachable('x', { cause: invalidHeader }),
  ],
  ['an error of our own', new Error('KMS')],
])('%s says nothing about the provider', (_, error) => {
  expect(shownBy(error, now)).toEqual({ kind: 'nothing' });
});

describe('Retry-After', () => {
  const saying = (error: ProviderError): ProviderError =>
    Object.assign(error, { retryAfter: { kind: 'delay', seconds: 60 } });

  test('of a 503 delays the breaker, and its own extraction unless the call was for a token', () => {
    const error = saying(new ProviderAmbiguous('503', { status: 503 }));
    const retryAt = now.getTime() + 60_000;
    expect(shownBy(error, now)).toEqual({ kind: 'failed', cause: 'http-503', retryAt });
    expect(notBeforeOf(error, now)).toBe('2026-03-01T12:01:00.000Z');
    expect(busyUntil(error, now)).toBeUndefined();
  });
});
