import { describe, expect, test } from 'vitest';
import type { MetricName } from '../../../../lib/observability/metric-names.ts';
import {
  doctorSignature,
  type RawDelivery,
  type ReceiveDeliveryDeps,
  receiveDelivery,
} from '../../../../lib/webhook/receive-delivery.ts';
import { signingKeyOf } from '../../../../lib/webhook/signing-keys.ts';
import { encryptedByOpenssl } from '../../../support/openssl.ts';
import { signed } from '../../../support/sign.ts';

const key = 'signing-key';
const payload = '{"taskId":"task-1","taskStatus":"COMPLETED"}';
const stored = { kind: 'stored' } as const;

/** The webhook with keys that are `current`, and `refreshed` after a mismatch. */
const webhook = (more: Partial<ReceiveDeliveryDeps> & { readonly current?: readonly string[] } = {}) => {
  const observed: MetricName[] = [];
  const recorded: unknown[] = [];
  const receive = (raw: Partial<RawDelivery>) =>
    receiveDelivery(
      { body: undefined, isBase64Encoded: false, signature: undefined, ...raw },
      {
        keys: {
          current: async () => (more.current ?? [key]).map(signingKeyOf),
          refreshed: async () => undefined,
        },
        record: async (delivery) => {
          recorded.push(delivery);
          return stored;
        },
        telemetry: { count: (one) => void observed.push(one), log: () => undefined },
        ...more,
      },
    );
  return { receive, observed, recorded };
};

const plain = (body = payload): Partial<RawDelivery> => ({ body, signature: signed(body, key) });

test("the doctor's delivery is refused as any other, and its reason names it", async () => {
  const { receive, observed } = webhook();
  expect(await receive({ signature: doctorSignature })).toEqual({ answer: 401, reason: 'doctor' });
  expect(observed).toEqual(['WebhookSignatureMismatch']);
});

const wrapped = (text: string): string => JSON.stringify({ data: encryptedByOpenssl(text, key) });

// test/fuzz/webhook compares any delivery with an oracle. Here are the reasons, which only the log has.
describe('a delivery that is refused changes nothing and is counted by its reason', () => {
  test.each<readonly [string, Partial<RawDelivery>, object, MetricName]>([
    ['unsigned', { body: payload }, { answer: 401, reason: 'missing' }, 'WebhookSignatureMissing'],
    [
      'signed with something malformed',
      { body: payload, signature: 'sha256=ñ' },
      { answer: 401, reason: 'malformed' },
      'WebhookSignatureMalformed',
    ],
    [
      'forged',
      { body: payload, signature: signed(payload, 'guess') },
      { answer: 401, reason: 'mismatch' },
      'WebhookSignatureMismatch',
    ],
    ['signed garbage', plain('garbage'), { answer: 400, reason: 'not-json' }, 'WebhookUnreadable'],
    [
      'signed, but not decryptable',
      plain('{"data":"a-b"}'),
      { answer: 400, reason: 'not-decryptable' },
      'WebhookUnreadable',
    ],
    [
      'signed, but with its task wrapped twice',
      plain(wrapped(wrapped(payload))),
      { answer: 400, reason: 'no-task' },
      'WebhookUnreadable',
    ],
  ])('%s', async (_what, raw, answer, metric) => {
    const { receive, observed, recorded } = webhook();
    expect(await receive(raw)).toEqual(answer);
    expect(observed).toEqual([metric]);
    expect(recorded).toEqual([]);
  });
});

// The header is looked at only after the keys were fetched: with no key at hand, a flood of unsigned requests is a
// flood of reads of the secret, and an unfilled secret answers 503 to what deserves a 401.
test('an unsigned or malformed delivery is refused without asking for the keys', async () => {
  let asked = 0;
  const current = async () => {
    asked += 1;
    return [signingKeyOf(key)];
  };
  const { receive } = webhook({ keys: { current, refreshed: async () => undefined } });
  await receive({ body: payload });
  await receive({ body: payload, signature: 'sha256=zz' });
  expect(asked).toBe(0);
});
