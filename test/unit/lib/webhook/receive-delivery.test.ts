import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { MetricName } from '../../../../lib/observability/metric-names.ts';
import {
  doctorSignature,
  type RawDelivery,
  type ReceiveDeliveryDeps,
  receiveDelivery,
} from '../../../../lib/webhook/receive-delivery.ts';
import { explainMismatches, signingKeyOf } from '../../../../lib/webhook/verify-signature.ts';
import { signatureHeader } from '../../../support/data/signature-header.ts';
import { encryptedByOpenssl } from '../../../support/programs/openssl.ts';

const key = 'signing-key';
const payload = '{"taskId":"task-1","taskStatus":"COMPLETED"}';
const stored = { kind: 'stored' } as const;

/** The webhook with keys that are `current`, and `refreshed` after a mismatch. */
const webhook = (
  more: Partial<ReceiveDeliveryDeps> & { readonly current?: string; readonly at?: () => number } = {},
) => {
  const observed: MetricName[] = [];
  const logged: unknown[] = [];
  const telemetry = {
    count: (one: MetricName) => void observed.push(one),
    log: (...line: unknown[]) => void logged.push(line),
  };
  const recorded: unknown[] = [];
  const explainMismatch = explainMismatches(telemetry, () => new Date(more.at?.() ?? 0));
  const receive = (raw: Partial<RawDelivery>) =>
    receiveDelivery(
      { body: undefined, isBase64Encoded: false, signature: undefined, ...raw },
      {
        keys: {
          current: async () => [signingKeyOf(more.current ?? key)],
          refreshed: async () => undefined,
        },
        explainMismatch,
        record: async (delivery) => {
          recorded.push(delivery);
          return stored;
        },
        telemetry,
        ...more,
      },
    );
  return { receive, observed, recorded, logged };
};

const plain = (body = payload): Partial<RawDelivery> => ({ body, signature: signatureHeader(body, key) });

test("the doctor's delivery is refused as any other, and its reason names it", async () => {
  const { receive, observed } = webhook();
  expect(await receive({ signature: doctorSignature })).toEqual({ answer: 401, reason: 'doctor' });
  expect(observed).toEqual(['WebhookSignatureMismatch']);
});

describe('a signature under what the text of the key encodes', () => {
  const bytes = Buffer.from('00ff10a5c3d2e1f0112233445566778899aabbccddeeff00', 'hex');
  const under = (secret: Uint8Array): Partial<RawDelivery> => ({
    body: payload,
    signature: `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`,
  });

  test.each([
    ['hex', bytes.toString('hex')],
    ['hex', bytes.toString('hex').toUpperCase()],
    ['base64', bytes.toString('base64')],
    ['base64', bytes.toString('base64url')],
    ['json', JSON.stringify({ 'webhook-signing-key': bytes.toString('hex') })],
    ['quotes', `"${bytes.toString('base64')}"`],
    ['white-space', `${bytes.toString('hex')} `],
    ['byte-order-mark', `\ufeff '${bytes.toString('hex')}'`],
  ])(
    'in %s is refused, and reported once a minute, which no forged one uses up',
    async (encoding, current) => {
      let ms = 0;
      const { receive, observed, logged, recorded } = webhook({ current, at: () => ms });
      await receive(under(Buffer.from('forged')));
      for (ms of [0, 59_999, 60_000]) {
        expect(await receive(under(bytes))).toEqual({ answer: 401, reason: 'mismatch' });
      }
      const mismatch = 'WebhookSignatureMismatch';
      const reported = [mismatch, 'WebhookKeyEncoded'];
      expect(observed).toEqual([mismatch, ...reported, mismatch, ...reported]);
      const line = [
        'The provider signs with what the text of the signing key encodes.',
        { encoding },
        'error',
      ];
      expect(logged).toEqual([line, line]);
      expect(recorded).toEqual([]);
    },
  );

  test.each([
    ['json', '{"other":1,"key":"shared secret"}'],
    ['quotes', '‘shared secret’'],
    ['white-space', 'shared secret\n\n'],
    ['byte-order-mark', '\ufeff"shared secret"'],
  ])('is named %s where the secret was filled with more than the key', async (encoding, current) => {
    const { receive, logged, recorded } = webhook({ current });
    expect(await receive(under(Buffer.from('shared secret')))).toEqual({ answer: 401, reason: 'mismatch' });
    expect(logged).toEqual([[expect.any(String), { encoding }, 'error']]);
    expect(JSON.stringify(logged)).not.toContain('shared');
    expect(recorded).toEqual([]);
  });
});

const wrapped = (text: string): string => JSON.stringify({ data: encryptedByOpenssl(text, key) });

// test/fuzz/webhook compares any delivery with an oracle. Here are the reasons, which only the log has.
describe('a delivery that is refused changes nothing and is counted by its reason', () => {
  const wrappedTwice = plain(wrapped(wrapped(payload)));
  test.each<readonly [string, Partial<RawDelivery>, number, string, MetricName]>([
    ['unsigned', { body: payload }, 401, 'missing', 'WebhookSignatureMissing'],
    ['ill-signed', { body: payload, signature: 'sha256=ñ' }, 401, 'malformed', 'WebhookSignatureMalformed'],
    ['signed garbage', plain('garbage'), 400, 'not-json', 'WebhookUnreadable'],
    ['signed, but not decryptable', plain('{"data":"a-b"}'), 400, 'not-decryptable', 'WebhookUnreadable'],
    ['signed, but with its task wrapped twice', wrappedTwice, 400, 'no-task', 'WebhookUnreadable'],
  ])('%s', async (_what, raw, answer, reason, metric) => {
    const { receive, observed, recorded } = webhook();
    expect(await receive(raw)).toEqual({ answer, reason });
    expect([observed, recorded]).toEqual([[metric], []]);
  });
});

// The header is checked only after the keys were fetched: with no key at hand, a flood of unsigned requests is a
// flood of reads of the secret, and an unfilled secret answers 503 to what deserves a 401.
test('an unsigned or malformed delivery is refused without asking for the keys', async () => {
  const current = vi.fn();
  const { receive } = webhook({ keys: { current, refreshed: async () => undefined } });
  await receive({ body: payload });
  await receive({ body: payload, signature: 'sha256=zz' });
  expect(current).not.toHaveBeenCalled();
});
