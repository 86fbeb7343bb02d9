import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test, vi } from 'vitest';
import { dynamoRepeatCounter } from '#lib/aws/dynamo-repeat-counter.ts';
import { presignResults } from '#lib/aws/presign-results.ts';
import { sealWith, unsealCredentialsWith, unsealTargetWith } from '#lib/aws/seal.ts';
import { sendEraseTo, sendReconcileBatchTo, sendReconcileTo } from '#lib/aws/send-messages.ts';
import { storeResultsIn } from '#lib/aws/store-results.ts';
import { patientClient } from '#lib/aws/wiring/aws-client-timeouts.ts';
import type { ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { SealedRequestData } from '#lib/extraction/sealed-request-data.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';
import { at, consentExtraction, extraction, iso } from '../../../support/data/extraction-fixtures.ts';

test('the link reads one object for 5 minutes, says until when, and lets nothing keep or show it', async () => {
  const client = new S3Client({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example' },
  });
  const results = { bucket: 'bucket', key: 'extraction-1/abc.json', bytes: 1, sha256: 'abc' };
  const link = await presignResults(client, () => at(0))(results);
  const url = new URL(link.url);
  expect(url.pathname).toContain('extraction-1/abc.json');
  expect(url.host).toContain('bucket');
  expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
  expect(url.searchParams.get('response-cache-control')).toBe('no-store');
  expect(url.searchParams.get('response-content-disposition')).toBe('attachment');
  expect(url.searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
  expect(link.expiresAt).toBe(iso(300));
});

// printf '{"a":1}' | sha256sum
const sha256 = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862';

test('the bytes are stored as they are, under the extraction and their own digest', async () => {
  const { client, sent } = stubClient<S3Client>(() => ({}));
  const bytes = Buffer.from('{"a":1}');
  expect(await storeResultsIn(client, 'bucket')('extraction-1', bytes, false)).toEqual({
    bucket: 'bucket',
    key: `extraction-1/${sha256}.json`,
    bytes: 7,
    sha256,
  });
  const stored = { Bucket: 'bucket', Key: `extraction-1/${sha256}.json`, Body: bytes };
  expect(sent).toEqual([{ name: 'PutObjectCommand', input: { ...stored, ContentType: 'application/json' } }]);
});

test('a brief store ends with its limit, although the client goes on trying', async () => {
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
  let tries = 0;
  const client = new S3Client({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example' },
    ...patientClient,
    requestHandler: {
      // As a bucket that hangs. The SDK's handlers reject as soon as the signal is aborted.
      handle: (_request: unknown, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) => {
        tries += 1;
        return new Promise<never>((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () =>
            reject(Object.assign(new Error('aborted'), { name: 'AbortError' })),
          );
          setImmediate(() => limit.abort());
        });
      },
    } as never,
  });
  const stored = storeResultsIn(client, 'bucket')('extraction-1', Buffer.from('{}'), true);
  await expect(stored).rejects.toThrow('aborted');
  expect([timeout.mock.calls, tries]).toEqual([[[5_000]], 1]);
});

/** A KMS that "encrypts" by turning bits over, and refuses another key or another encryption context. */
const { client: kms } = stubClient<KMSClient>(({ input }) => {
  const binding = JSON.stringify([input.KeyId, input.EncryptionContext]);
  if (input.Plaintext !== undefined) {
    const flipped = Buffer.from(input.Plaintext as Uint8Array).map((byte) => byte ^ 0xff);
    return { CiphertextBlob: new Uint8Array(Buffer.concat([Buffer.from(`${binding}\0`), flipped])) };
  }
  const sealed = Buffer.from(input.CiphertextBlob as Uint8Array);
  const end = sealed.indexOf(0);
  if (sealed.subarray(0, end).toString() !== binding) throw new Error('InvalidCiphertextException');
  return { Plaintext: new Uint8Array(sealed.subarray(end + 1).map((byte) => byte ^ 0xff)) };
});

const plaintext = {
  credentials: { mode: 'raw', value: { username: 'ñandú', password: 'p"w\\\u{1f600}', businessId: '7' } },
} as const;
const record = extraction();
const itemWith = async (data: SealedRequestData, of: Extraction = record) => ({
  sealed: await sealWith(kms, 'arn:key')(of, data),
});
const consent = consentExtraction();
const refusal = 'InvalidCiphertext';

test('what was sealed for an extraction is unsealed for it, to the letter, and for no other nor with another key', async () => {
  const item = await itemWith(plaintext);
  const unseal = unsealCredentialsWith(kms, 'arn:key');
  expect(await unseal(record, item)).toEqual(plaintext);
  await expect(unsealCredentialsWith(kms, 'arn:other')(record, item)).rejects.toThrow(refusal);
});

test.each([
  ['extraction', { extractionId: 'extraction-2' }],
  ['item', { requestId: 'request-2' }],
  ['bank', { entity: 'other-bank' }],
  ['action', { actions: [{ id: 'tef' }] }],
  ['caller', { requestedBy: 'other-caller' }],
])('nobody who writes records has credentials unsealed for another %s', async (_what, fields) => {
  const item = await itemWith(plaintext);
  const unseal = unsealCredentialsWith(kms, 'arn:key');
  await expect(unseal(extraction(fields), item)).rejects.toThrow(refusal);
  // The order of members is DynamoDB's.
  const reordered = Object.fromEntries(Object.entries(record).toReversed()) as Extraction;
  expect(await unseal({ ...reordered, status: 'STARTING', reference: 'other' }, item)).toEqual(plaintext);
});

test.each([
  ['product', { product: 'tef' }],
  ['consent', { consentId: 'other' }],
  ['variant', { variant: 'v2' }],
  ['caller', { requestedBy: 'other-caller' }],
] as const)('nobody who writes records has a target unsealed for another %s', async (_what, fields) => {
  const item = await itemWith({ target: '11111111-1' }, consent);
  const changed = { ...consent, ...fields } as Extraction;
  await expect(unsealTargetWith(kms, 'arn:key')(changed, item)).rejects.toThrow(refusal);
});

test('a target is opened only as such, and credentials not as a target, which is all that reconcile may open', async () => {
  const item = await itemWith({ target: '11111111-1' }, consent);
  const unsealTarget = unsealTargetWith(kms, 'arn:key');
  expect(await unsealTarget(consent, item)).toEqual({ target: '11111111-1' });
  await expect(unsealCredentialsWith(kms, 'arn:key')(consent, item)).rejects.toThrow(refusal);
  await expect(unsealTarget(record, await itemWith(plaintext))).rejects.toThrow(refusal);
});

test('if another process has begun the next hour of a repeated request, it is asked again in a second', async () => {
  const { client: dynamo } = stubClient<DynamoDBClient>(() =>
    fail(
      new ConditionalCheckFailedException({ message: '', $metadata: {}, Item: marshall({ expiresAt: 5 }) }),
    ),
  );
  expect(await dynamoRepeatCounter(dynamo, 'M').count('e', new Date(10_000))).toEqual({ retryAfter: 1 });
});

test('a message is held back for its delay, and read by the consumer as it was sent', async () => {
  const { client, sent } = stubClient<SQSClient>(() => ({}));
  const message = { extractionId: 'e-1', cause: 'due', dueAt: '2026-03-01T12:00:05.000Z' } as const;
  await sendReconcileTo(client, 'queue')(message, 'caller', 5);
  await sendReconcileTo(client, 'queue')({ extractionId: 'e-1', cause: 'webhook' }, 'caller');
  expect(sent.map(({ input }) => input.DelaySeconds)).toEqual([5, 0]);
  expect(JSON.parse(String(sent[0]?.input.MessageBody))).toEqual(message);
});

test('the messages of one caller are one group of a queue, so that others do not wait for all of them', async () => {
  const { client, sent } = stubClient<SQSClient>(() => ({}));
  const send = sendEraseTo(client, 'queue');
  const sendBatch = sendReconcileBatchTo(client, 'queue');
  const arn = `arn:aws:iam::111122223333:role/${'orders/'.repeat(70)}`;
  await send({ search: { erasureId: 'e-1' } }, arn);
  await send({ erase: { erasureId: 'e-2', extractionId: 'x', requestId: 'r' } }, arn, 5);
  await send({ search: { erasureId: 'e-3' } }, 'another');
  await sendReconcileTo(client, 'queue')({ extractionId: 'x', cause: 'start' }, arn);
  await sendBatch(
    [arn, 'another'].map((caller) => ({ message: { extractionId: 'x', cause: 'sweep' }, caller })),
  );
  // Of a record that somebody damaged.
  await send({ search: { erasureId: 'e-4' } }, undefined as never);
  const groups = sent.flatMap(({ input }) =>
    ((input.Entries ?? [input]) as { MessageGroupId: string }[]).map(({ MessageGroupId }) => MessageGroupId),
  );
  const [group = '', , other] = groups;
  expect(group).toMatch(/^[0-9a-f]{64}$/);
  expect([other === group, sent[1]?.input.DelaySeconds]).toEqual([false, 5]);
  expect(groups).toEqual([group, group, other, group, group, other, expect.any(String)]);
});

test('the messages of a batch that the queue refuses are returned, although it answers 200', async () => {
  const messages = ['a', 'b', 'c', 'd'].map(
    (extractionId): ReconcileMessage => ({ extractionId, cause: 'sweep' }),
  );
  const refused = new Set(['b', 'd']);
  const { client } = stubClient<SQSClient>(({ input }) => {
    const entries = input.Entries as readonly { Id: string; MessageBody: string }[];
    const idsOf = (isRefused: boolean) =>
      entries.flatMap(({ Id, MessageBody }) =>
        refused.has(JSON.parse(MessageBody).extractionId) === isRefused ? [{ Id }] : [],
      );
    return { Successful: idsOf(false), Failed: idsOf(true) };
  });
  const batch = messages.map((message) => ({ message, caller: 'caller' }));
  expect(await sendReconcileBatchTo(client, 'queue')(batch)).toEqual([messages[1], messages[3]]);
});
