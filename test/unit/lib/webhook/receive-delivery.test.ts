import { describe, expect, test, vi } from 'vitest';
import type { MetricName } from '#lib/observability/metric-names.ts';
import {
  answerDelivery,
  doctorSignature,
  type RawDelivery,
  type ReceiveDeliveryDeps,
  receiveDelivery,
} from '#lib/webhook/receive-delivery.ts';
import { signingKeyOf } from '#lib/webhook/verify-signature.ts';
import { signatureHeader } from '../../../support/data/signature-header.ts';
import { encryptedByOpenssl } from '../../../support/programs/openssl.ts';

const key = 'signing-key';
const payload = '{"taskId":"task-1","taskStatus":"COMPLETED"}';

/** The webhook with one key. */
const webhook = (more: Partial<ReceiveDeliveryDeps> = {}) => {
  const observed: MetricName[] = [];
  const recorded: unknown[] = [];
  const levels: unknown[] = [];
  const deps: ReceiveDeliveryDeps = {
    keys: { current: async () => [signingKeyOf(key)], refreshed: async () => [] },
    explainMismatch: () => undefined,
    record: async (delivery) => {
      recorded.push(delivery);
      return { kind: 'stored' };
    },
    telemetry: {
      count: (one) => void observed.push(one),
      log: (_message, _fields, level) => void levels.push(level),
    },
    ...more,
  };
  const receive = (raw: Partial<RawDelivery>) =>
    receiveDelivery({ body: undefined, isBase64Encoded: false, signature: undefined, ...raw }, deps);
  const levelOf = async ({ body, signature }: Partial<RawDelivery>) => {
    const headers = { 'x-service-signature': signature };
    await answerDelivery({ body, isBase64Encoded: false, headers }, deps);
    return levels.at(-1);
  };
  return { receive, levelOf, observed, recorded };
};

const plain = (body = payload): Partial<RawDelivery> => ({ body, signature: signatureHeader(body, key) });

test('a delivery that verifies is answered with the version of its key', async () => {
  const keys = { current: async () => [signingKeyOf(key, 'version-1')], refreshed: async () => [] };
  expect(await webhook({ keys }).receive(plain())).toMatchObject({ answer: 204, keyVersion: 'version-1' });
});

test("the doctor's delivery is refused as any other, and its reason names it", async () => {
  const explained: unknown[] = [];
  const { receive, observed } = webhook({ explainMismatch: (signature) => void explained.push(signature) });
  expect(await receive({ signature: doctorSignature })).toEqual({ answer: 401, reason: 'doctor' });
  expect([observed, explained]).toEqual([['WebhookSignatureMismatch'], [doctorSignature]]);
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
    const { receive, levelOf, observed, recorded } = webhook();
    expect(await receive(raw)).toEqual({ answer, reason });
    expect([observed, recorded]).toEqual([[metric], []]);
    // What is signed and unreadable is a defect, here or at the provider. What is unsigned may come from anybody.
    expect(await levelOf(raw)).toBe(answer === 400 ? 'error' : 'warn');
  });
});

// The header is checked only after the keys were fetched: with no key at hand, a flood of unsigned requests is a
// flood of reads of the secret, and an unfilled secret answers 503 to what deserves a 401.
test('an unsigned or malformed delivery is refused without asking for the keys', async () => {
  const current = vi.fn();
  const { receive } = webhook({ keys: { current, refreshed: async () => [] } });
  await receive({ body: payload });
  await receive({ body: payload, signature: 'sha256=zz' });
  expect(current).not.toHaveBeenCalled();
});
