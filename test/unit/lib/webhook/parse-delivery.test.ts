import { expect, test } from 'vitest';
import { parseDelivery } from '../../../../lib/webhook/parse-delivery.ts';
import { encryptedByOpenssl } from '../../../support/openssl.ts';

const key = 'signing-key';
const iv = Buffer.from('f0e0d0c0b0a090807060504030201000', 'hex');
// test/fuzz/webhook compares whole deliveries with an oracle.
const wrapped = (inner: string | Uint8Array, under = key): string =>
  JSON.stringify({ data: encryptedByOpenssl(inner, under, iv) });
const parse = (body: string | Uint8Array) => parseDelivery(Buffer.from(body), key);
const terminal = { kind: 'terminal', taskId: 'task-1', taskStatus: 'PARTIAL' };

test.each(['PENDING', 'RUNNING', 'completed', 'TIMED_OUT', 'CANCELLED', '', '__proto__'])(
  'the status %j is verified and unknown: the poll decides',
  (taskStatus) => {
    expect(parse(JSON.stringify({ taskId: 'task-1', taskStatus }))).toEqual({
      kind: 'unknown-status',
      taskId: 'task-1',
    });
  },
);

test.each([
  ['is empty', ''],
  ['is no JSON', 'taskId=task-1'],
  ['is cut off', '{"taskId":"task-1","taskSta'],
  ['is not UTF-8', Buffer.from('{"taskId":"ñ","taskStatus":"PARTIAL"}', 'latin1')],
  ['is a wrapped text that is no JSON', wrapped('not json')],
  ['is a wrapped text that is not UTF-8', wrapped(Buffer.from([0xff, 0xfe]))],
])('a body that %s is not JSON', (_what, body) => {
  expect(parse(body)).toEqual({ kind: 'unreadable', reason: 'not-json' });
});

test.each([
  ['is no ciphertext', '{"data":"hello"}'],
  ['is empty ciphertext', '{"data":""}'],
  ['has a broken IV', '{"data":"AAAAAAAAAAAAAAAAAAAAAA==-AAAA"}'],
])('a wrapper that %s is not decryptable', (_what, body) => {
  expect(parse(body)).toEqual({ kind: 'unreadable', reason: 'not-decryptable' });
});

const json = (of: unknown) => JSON.stringify(of);

test.each([
  ['null', 'null'],
  ['a list', json([{ taskId: 'task-1', taskStatus: 'PARTIAL' }])],
  ['a taskId without a status', json({ taskId: 'task-1' })],
  ['a status without a taskId', json({ taskStatus: 'PARTIAL' })],
  ['an empty taskId', json({ taskId: '', taskStatus: 'PARTIAL' })],
  ['a taskId of 101 characters', json({ taskId: 'x'.repeat(101), taskStatus: 'PARTIAL' })],
  ['a status that is a number', json({ taskId: 'task-1', taskStatus: 1 })],
  ['data that is no text', json({ data: { taskId: 'task-1', taskStatus: 'PARTIAL' } })],
  ['a taskId of null beside data', json({ taskId: null, data: 'x' })],
])('%s names no task', (_what, body) => {
  expect(parse(body)).toEqual({ kind: 'unreadable', reason: 'no-task' });
});

test('a wrapper inside a wrapper is not unwrapped', () => {
  const inner = wrapped('{"taskId":"task-1","taskStatus":"PARTIAL"}');
  expect(parse(wrapped(inner))).toEqual({ kind: 'unreadable', reason: 'no-task' });
});

// RFC 8259, section 8.1: a parser may ignore it.
test('a byte order mark before the text is not part of it, plain and wrapped', () => {
  const body = '\ufeff{"taskId":"task-1","taskStatus":"PARTIAL"}';
  expect(parse(body)).toEqual(terminal);
  expect(parse(wrapped(body))).toEqual(terminal);
});
