import { isTerminalStatus, type TerminalStatus } from '../extraction/record.ts';
import { decryptText, UndecryptableText } from '../provider/encryption-scheme.ts';
import { isTaskId } from '../provider/tasks/task-id.ts';

export type ParsedDelivery =
  | { readonly kind: 'terminal'; readonly taskId: string; readonly taskStatus: TerminalStatus }
  /** Verified, but a status that the document does not list: the poll decides. */
  | { readonly kind: 'unknown-status'; readonly taskId: string }
  /** Verified, and still not a delivery: our bug or theirs. */
  | { readonly kind: 'unreadable'; readonly reason: 'not-json' | 'not-decryptable' | 'no-task' };

/** The fields of a JSON object, or none where the JSON is something else. */
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
 * Reads the body of a delivery whose signature was verified under `key`. Plain and encrypted mode are both
 * taken ("Events", rules 4 and 5): a body that has `data` and no `taskId` is the wrapper of the latter, and is
 * decrypted with the key that verified. Fields beyond those two are ignored.
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

/** Plain checks of two fields: this is the hot path of a small bundle, and a schema library weighs 6 KB in it. */
const readPayload = (json: unknown): ParsedDelivery => {
  const { taskId, taskStatus } = fieldsOf(json);
  if (!isTaskId(taskId) || typeof taskStatus !== 'string') return { kind: 'unreadable', reason: 'no-task' };
  return isTerminalStatus(taskStatus)
    ? { kind: 'terminal', taskId, taskStatus }
    : { kind: 'unknown-status', taskId };
};
