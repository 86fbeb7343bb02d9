import { createDecipheriv, createHash, createHmac } from 'node:crypto';
import type { DeliveryEvent } from '#lib/webhook/receive-delivery.ts';
import { isHalf, jsonOf, notJson } from '../json-of-body.ts';

/** The five of the provider's document ("v2 task"). */
const terminal = ['COMPLETED', 'PARTIAL', 'FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];

type Expected = {
  readonly status: 204 | 400 | 401 | 413;
  /** What is counted of it at the edge; undefined: nothing. */
  readonly metric: string | undefined;
  /** Only of what is to be recorded. */
  readonly delivery?: { readonly taskId: string; readonly taskStatus: string };
};

/** The bytes that API Gateway received, or what Node decodes from a text that is wrongly marked as base64. */
const receivedBytes = ({ body = '', isBase64Encoded }: DeliveryEvent): Buffer =>
  isBase64Encoded ? Buffer.from(body, 'base64') : Buffer.from(body, 'utf8');

/** The key of which the header is the signature of these bytes: compared as text, with no pattern and no shortcut. */
const signingKeyOf = (
  header: string | undefined,
  bytes: Uint8Array,
  keys: readonly string[],
): string | undefined =>
  keys.find((key) => {
    const right = createHmac('sha256', Buffer.from(key, 'utf8')).update(bytes).digest('hex');
    return header?.startsWith('sha256=') === true && header.slice(7).toLowerCase() === right;
  });

const hexDigits = new Set('0123456789abcdefABCDEF');
const isWellShaped = (header: string): boolean =>
  header.length === 7 + 64 &&
  header.startsWith('sha256=') &&
  [...header.slice(7)].every((one) => hexDigits.has(one));

const isCanonical = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

/** The plaintext by "Encryption scheme", with the padding removed by hand; undefined if it cannot be decrypted. */
const decrypted = (text: string, key: string): Buffer | undefined => {
  const halves = text.split('-');
  if (halves.length !== 2 || !halves.every(isCanonical)) return undefined;
  const [ciphertext = Buffer.alloc(0), iv = Buffer.alloc(0)] = halves.map((half) =>
    Buffer.from(half, 'base64'),
  );
  if (iv.length !== 16 || ciphertext.length === 0 || ciphertext.length % 16 !== 0) return undefined;
  const decipher = createDecipheriv('aes-256-cbc', createHash('sha256').update(key, 'utf8').digest(), iv);
  decipher.setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  const missing = padded.at(-1) ?? 0;
  if (missing < 1 || missing > 16) return undefined;
  const padding = padded.subarray(-missing);
  return padding.every((byte) => byte === missing) ? padded.subarray(0, -missing) : undefined;
};

const own = (json: unknown, name: string): unknown =>
  typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? (json as Record<string, unknown>)[name]
    : undefined;

const isTaskId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= 100 &&
  value !== '.' &&
  value !== '..' &&
  !isHalf(value);

const unreadable: Expected = { status: 400, metric: 'WebhookUnreadable' };

const ofPayload = (json: unknown): Expected => {
  const [taskId, taskStatus] = [own(json, 'taskId'), own(json, 'taskStatus')];
  if (!isTaskId(taskId) || typeof taskStatus !== 'string') return unreadable;
  return terminal.includes(taskStatus)
    ? { status: 204, metric: undefined, delivery: { taskId, taskStatus } }
    : { status: 204, metric: 'WebhookUnknownStatus' };
};

/** The answer to a delivery by section 7 of the design, computed by other means than in `lib/webhook`. */
export const expectedOf = (event: DeliveryEvent, keys: readonly string[]): Expected => {
  const bytes = receivedBytes(event);
  if (bytes.length > 16_384) return { status: 413, metric: 'WebhookTooLarge' };
  const header = event.headers['x-service-signature'];
  if (header === undefined) return { status: 401, metric: 'WebhookSignatureMissing' };
  if (!isWellShaped(header)) return { status: 401, metric: 'WebhookSignatureMalformed' };
  const key = signingKeyOf(header, bytes, keys);
  if (key === undefined) return { status: 401, metric: 'WebhookSignatureMismatch' };

  const json = jsonOf(bytes);
  if (json === notJson) return unreadable;
  const data = own(json, 'data');
  if (typeof data !== 'string' || own(json, 'taskId') !== undefined) return ofPayload(json);
  const plaintext = decrypted(data, key);
  const inner = plaintext === undefined ? notJson : jsonOf(plaintext);
  return inner === notJson ? unreadable : ofPayload(inner);
};
