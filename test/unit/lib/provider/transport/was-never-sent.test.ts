import { expect, test } from 'vitest';
import { NotConnected } from '../../../../../lib/provider/transport/fresh-connection.ts';
import { wasNeverSent } from '../../../../../lib/provider/transport/was-never-sent.ts';

const failed = (fields: object): Error => Object.assign(new Error('failed'), fields);
const fetchFailed = (cause: unknown): Error => new TypeError('fetch failed', { cause });
const refused = failed({ code: 'ECONNREFUSED', syscall: 'connect' });
const reset = failed({ code: 'ECONNRESET', syscall: 'read' });

test.each([
  ['a refused connect', fetchFailed(refused)],
  ['a connect that timed out in the kernel', fetchFailed(failed({ code: 'ETIMEDOUT', syscall: 'connect' }))],
  ['an unreachable host', fetchFailed(failed({ code: 'EHOSTUNREACH', syscall: 'connect' }))],
  ['a name that does not exist', fetchFailed(failed({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }))],
  ['a resolver that does not answer', fetchFailed(failed({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' }))],
  ['undici’s own connect timeout', fetchFailed(failed({ code: 'UND_ERR_CONNECT_TIMEOUT' }))],
  ['a connection that never stood', new NotConnected('slow')],
  ['a header that cannot be written', failed({ code: 'ERR_INVALID_CHAR' })],
  ['an expired certificate', fetchFailed(failed({ code: 'CERT_HAS_EXPIRED' }))],
  ['a certificate for another name', fetchFailed(failed({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }))],
  ['every address refused', fetchFailed(new AggregateError([refused, refused]))],
])('%s: surely never sent', (_what, error) => {
  expect(wasNeverSent(error)).toBe(true);
});

test.each([
  ['a reset', fetchFailed(reset)],
  ['a broken pipe', fetchFailed(failed({ code: 'EPIPE', syscall: 'write' }))],
  ['a peer that closed', fetchFailed(failed({ code: 'UND_ERR_SOCKET' }))],
  ['no headers in time', fetchFailed(failed({ code: 'UND_ERR_HEADERS_TIMEOUT' }))],
  ['no body in time', fetchFailed(failed({ code: 'UND_ERR_BODY_TIMEOUT' }))],
  ['our own total timeout', new DOMException('timed out', 'TimeoutError')],
  ['one address refused, another reset', fetchFailed(new AggregateError([refused, reset]))],
  ['an aggregate of nothing', fetchFailed(new AggregateError([]))],
  ['an error without a cause', new Error('what?')],
  ['a text', 'ECONNREFUSED'],
  ['nothing', undefined],
  ['null', null],
])('%s: counts as sent', (_what, error) => {
  expect(wasNeverSent(error)).toBe(false);
});
