import { isTerminalStatus, type TerminalStatus } from '../extraction/record.ts';
import { decryptText, UndecryptableText } from '../provider/encrypt-and-decrypt.ts';
import { isTaskId } from '../provider/tasks/task-id.ts';

export type ParsedDelivery =
  | { readonly kind: 'terminal'; readonly taskId: string; readonly taskStatus: TerminalStatus }
  /** Verified, with a status that the provider's API document does not list. The next read decides. */
  | { readonly kind: 'unknown-status'; readonly taskId: string }
  /** Verified, and still not a delivery: a bug here or at the provider. */
  | { readonly kind: 'unreadable'; readonly reason: 'not-json' | 'not-decryptable' | 'no-task' };

/** Returns the fields of a JSON object, and none for any other JSON. */
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
 * Parses the body of a delivery that was verified with `key`. Plain and encrypted mode are both accepted ("Events",
 * rules 4 and 5). A body with `data` and without `taskId` is encrypted, with the key that verified it. Other fields are
 * ignored.
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

/** Checks two fields by hand. A schema library would add 6 KB to the webhook's bundle. */
const readPayload = (json: unknown): ParsedDelivery => {
  const { taskId, taskStatus } = fieldsOf(json);
  if (!isTaskId(taskId) || typeof taskStatus !== 'string') return { kind: 'unreadable', reason: 'no-task' };
  return isTerminalStatus(taskStatus)
    ? { kind: 'terminal', taskId, taskStatus }
    : { kind: 'unknown-status', taskId };
};
