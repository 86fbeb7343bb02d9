import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { explainMismatches } from '#lib/webhook/explain-mismatch.ts';
import { signingKeyOf } from '#lib/webhook/verify-signature.ts';

const body = Buffer.from('{"taskId":"task-1","taskStatus":"COMPLETED"}');
const signedWith = (secret: Uint8Array): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Explains signatures under a key with this text, and keeps what is counted and logged. */
const explaining = (text: string) => {
  const time = { ms: 0 };
  const counted: string[] = [];
  const logged: unknown[] = [];
  const explain = explainMismatches(
    { count: (metric) => void counted.push(metric), log: (...line) => void logged.push(line) },
    () => new Date(time.ms),
  );
  return {
    time,
    counted,
    logged,
    explain: (signature: string) => explain(signature, body, [signingKeyOf(text)]),
  };
};

const bytes = Buffer.from('00ff10a5c3d2e1f0112233445566778899aabbccddeeff00', 'hex');

test.each([
  ['hex', bytes.toString('hex').toUpperCase()],
  ['base64', bytes.toString('base64')],
  ['base64', bytes.toString('base64url')],
  ['json', JSON.stringify({ 'webhook-signing-key': bytes.toString('hex') })],
  ['quotes', `"${bytes.toString('base64')}"`],
  ['white-space', `${bytes.toString('hex')} `],
  ['byte-order-mark', `\ufeff '${bytes.toString('hex')}'`],
])('%s is reported once a minute, which no forged signature uses up', (encoding, text) => {
  const { explain, time, counted, logged } = explaining(text);
  explain(signedWith(Buffer.from('forged')));
  for (time.ms of [0, 59_999, 60_000]) explain(signedWith(bytes));
  expect(counted).toEqual(['WebhookKeyEncoded', 'WebhookKeyEncoded']);
  const message = 'The provider signs with what the text of the signing key encodes or contains.';
  expect(logged).toEqual(Array(2).fill([message, { encoding }, 'error']));
});

test.each([
  ['json', '{"other":1,"key":"shared secret"}'],
  ['quotes', '‘shared secret’'],
  ['white-space', 'shared secret\n\n'],
  ['byte-order-mark', '\ufeff"shared secret"'],
])('%s is named where the secret was filled with more than the key', (encoding, text) => {
  const { explain, logged } = explaining(text);
  explain(signedWith(Buffer.from('shared secret')));
  expect(logged).toEqual([[expect.any(String), { encoding }, 'error']]);
  expect(JSON.stringify(logged)).not.toContain('shared');
});
