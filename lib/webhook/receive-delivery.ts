import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { isTerminalStatus, type TerminalStatus } from '../extraction/record.ts';
import type { RecordedDelivery } from '../extraction/record-delivery.ts';
import { problem } from '../http/problem.ts';
import { logMessages } from '../observability/log-messages.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { decryptText, UndecryptableText } from '../provider/encrypt-and-decrypt.ts';
import { isTaskId } from '../provider/tasks/task-id.ts';
import type { SigningKeys } from './cache-signing-keys.ts';
import type { ExplainMismatch } from './explain-mismatch.ts';
import { type Verification, verifySignature } from './verify-signature.ts';

/** A real delivery has less than 400 bytes, even if encrypted. A taskId has at most 100 characters. */
export const deliveryLimitBytes = 16 * 1024;

/** An HTTP request to the webhook, as API Gateway passes it on. */
export type RawDelivery = {
  readonly body: string | undefined;
  readonly isBase64Encoded: boolean;
  readonly signature: string | undefined;
};

type ReceivedDelivery =
  | { readonly answer: 413 }
  | { readonly answer: 401; readonly reason: 'missing' | 'malformed' | 'mismatch' | 'doctor' }
  | { readonly answer: 400; readonly reason: 'not-json' | 'not-decryptable' | 'no-task' }
  | {
      readonly answer: 204;
      readonly taskId: string;
      readonly recorded: RecordedDelivery | 'unknown-status';
      /** The version of the key that verified it. It shows `doctor` and `fill` which key the provider signs with. */
      readonly keyVersion?: string;
    };

export type ReceiveDeliveryDeps = {
  /**
   * `current` is cached, also while Secrets Manager is down. Without a cached key, and from `refreshed` if its last fetch failed, they throw
   * NotConfigured (503) while the secret has no value, and the SDK's errors (500).
   */
  readonly keys: SigningKeys;
  /** Only logs and counts. */
  readonly explainMismatch: ExplainMismatch;
  readonly record: (delivery: {
    readonly taskId: string;
    readonly taskStatus: TerminalStatus;
  }) => Promise<RecordedDelivery>;
  readonly telemetry: Pick<Telemetry, 'count' | 'log'>;
};

/**
 * The well-formed but wrong signature with which `cosecha doctor` checks that a wrong one is refused. It is public. If another sender uses
 * it, only the `reason` in the log differs.
 */
export const doctorSignature = `sha256=${'0'.repeat(64)}`;

const refusal = {
  missing: 'WebhookSignatureMissing',
  malformed: 'WebhookSignatureMalformed',
  mismatch: 'WebhookSignatureMismatch',
} as const;

/** Verifies with the cached keys. After a mismatch it fetches the keys and verifies once more, because they may have been rotated. */
const verify = async (
  signature: string | undefined,
  body: Uint8Array,
  keys: SigningKeys,
): Promise<Verification> => {
  // The form is checked before any key is fetched, so that a malformed signature costs nothing. No key fits a well-formed one here.
  const withoutKeys = verifySignature(signature, body, []);
  if (!withoutKeys.verified && withoutKeys.reason !== 'mismatch') return withoutKeys;
  const current = await keys.current();
  const first = verifySignature(signature, body, current);
  if (first.verified || first.reason !== 'mismatch') return first;
  const refreshed = await keys.refreshed();
  // In a flood of forged deliveries, the keys were mostly fetched just before.
  return refreshed === current ? first : verifySignature(signature, body, refreshed);
};

/**
 * Handles one delivery in the order of design section 7: size, signature over the raw bytes, decrypt, parse, record. Nothing is parsed
 * before it is verified. Throws what its dependencies throw.
 */
export const receiveDelivery = async (
  raw: RawDelivery,
  deps: ReceiveDeliveryDeps,
): Promise<ReceivedDelivery> => {
  const body = Buffer.from(raw.body ?? '', raw.isBase64Encoded ? 'base64' : 'utf8');
  if (body.byteLength > deliveryLimitBytes) {
    deps.telemetry.count('WebhookTooLarge');
    return { answer: 413 };
  }

  const verification = await verify(raw.signature, body, deps.keys);
  if (!verification.verified) {
    const { reason } = verification;
    deps.telemetry.count(refusal[reason]);
    if (reason === 'mismatch') deps.explainMismatch(raw.signature, body, await deps.keys.current());
    return { answer: 401, reason: raw.signature === doctorSignature ? 'doctor' : reason };
  }

  const delivery = parseDelivery(body, verification.key);
  if (delivery.kind === 'unreadable') {
    deps.telemetry.count('WebhookUnreadable');
    return { answer: 400, reason: delivery.reason };
  }
  const { taskId } = delivery;
  const { version: keyVersion } = verification;
  const verifiedBy = keyVersion === undefined ? {} : { keyVersion };
  if (delivery.kind === 'unknown-status') {
    deps.telemetry.count('WebhookUnknownStatus', { taskId });
    return { answer: 204, taskId, recorded: 'unknown-status', ...verifiedBy };
  }
  const { taskStatus } = delivery;
  return { answer: 204, taskId, recorded: await deps.record({ taskId, taskStatus }), ...verifiedBy };
};

/** The part of an API Gateway event that the webhook reads. Header names are in lower case. */
export type DeliveryEvent = {
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

/**
 * The answer's body and the log line, by status. All causes of a status have the same answer. So a sender without a key learns nothing
 * about the keys, and a sender with one learns nothing about the cipher.
 */
const answers = {
  413: { body: 'too-large', line: undefined },
  401: { body: 'unauthorized', line: { level: 'warn', message: logMessages.deliveryRefused } },
  400: {
    body: 'invalid-request',
    line: { level: 'error', message: logMessages.deliveryUnreadable },
  },
  204: { body: undefined, line: { level: 'info', message: logMessages.deliveryReceived } },
} as const;

/** Answers one delivery and logs it. Throws what its dependencies throw. */
export const answerDelivery = async (
  event: DeliveryEvent,
  deps: ReceiveDeliveryDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const { answer, ...facts } = await receiveDelivery(
    {
      body: event.body,
      isBase64Encoded: event.isBase64Encoded,
      signature: event.headers['x-service-signature'],
    },
    deps,
  );
  const { body, line } = answers[answer];
  if (line !== undefined) deps.telemetry.log(line.message, facts, line.level);
  return body === undefined ? { statusCode: answer } : problem(body);
};

type ParsedDelivery =
  | { readonly kind: 'terminal'; readonly taskId: string; readonly taskStatus: TerminalStatus }
  /** A verified delivery whose status the provider's API document does not list. The next read decides. */
  | { readonly kind: 'unknown-status'; readonly taskId: string }
  /** A verified body that is not a delivery: a bug here or at the provider. */
  | { readonly kind: 'unreadable'; readonly reason: 'not-json' | 'not-decryptable' | 'no-task' };

/** Returns the fields of a JSON object. Any other JSON has none. */
const fieldsOf = (json: unknown): { readonly [field: string]: unknown } =>
  typeof json === 'object' && json !== null ? (json as { readonly [field: string]: unknown }) : {};

const parseJson = (bytes: Uint8Array): { readonly json: unknown } | undefined => {
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return undefined;
  }
};

/**
 * Parses the body of a delivery that was verified with `key`. Both modes, plain and encrypted, are accepted ("Events", rules 4 and 5). A
 * body with `data` and without `taskId` is encrypted with the key that verified it. Other fields are ignored.
 */
export const parseDelivery = (body: Uint8Array, key: string): ParsedDelivery => {
  const outer = parseJson(body);
  if (outer === undefined) return { kind: 'unreadable', reason: 'not-json' };
  const { data, taskId } = fieldsOf(outer.json);
  if (typeof data !== 'string' || taskId !== undefined) return readPayload(outer.json);

  try {
    const inner = parseJson(decryptText(data, key));
    return inner === undefined ? { kind: 'unreadable', reason: 'not-json' } : readPayload(inner.json);
  } catch (error) {
    if (!(error instanceof UndecryptableText)) throw error;
    return { kind: 'unreadable', reason: 'not-decryptable' };
  }
};

/** Checks two fields without a schema library, which would add 6 KB to the webhook's bundle. */
const readPayload = (json: unknown): ParsedDelivery => {
  const { taskId, taskStatus } = fieldsOf(json);
  if (!isTaskId(taskId) || typeof taskStatus !== 'string') return { kind: 'unreadable', reason: 'no-task' };
  return isTerminalStatus(taskStatus)
    ? { kind: 'terminal', taskId, taskStatus }
    : { kind: 'unknown-status', taskId };
};
