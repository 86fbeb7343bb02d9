import { defined } from '../../../../lib/defined.ts';
import { logMessages } from '../../../../lib/observability/log-messages.ts';
import type { LoggedFields } from '../../aws/logs.ts';
import type { DeliveryLine } from './sources.ts';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const object = (value: unknown): LoggedFields =>
  typeof value === 'object' && value !== null ? (value as LoggedFields) : {};

/** A line of receive-webhook about a delivery, or undefined for its other lines. It has no body and no signature. */
export const parseDeliveryLine = (fields: LoggedFields): DeliveryLine | undefined => {
  const at = text(fields.timestamp);
  if (at === undefined) return undefined;
  const reason = text(fields.reason) ?? 'unknown';
  if (fields.message === logMessages.deliveryRefused) return { at, answer: 401, verdict: reason };
  if (fields.message === logMessages.deliveryUnreadable) return { at, answer: 400, verdict: reason };
  const taskId = text(fields.taskId);
  if (fields.message === logMessages.deliveryReceived && taskId !== undefined) {
    const { kind, extractionId, wake } = object(fields.recorded);
    return defined({
      at,
      taskId,
      answer: 204 as const,
      verdict: text(fields.recorded) ?? text(kind) ?? 'unknown',
      extractionId: text(extractionId),
      wake: text(wake),
    });
  }
  // Everything else that it logs as an error is a failure, which it answers with 5xx.
  return fields.level === 'ERROR' ? { at, answer: 500, verdict: 'failed' } : undefined;
};

/** When a sweep finished, of the line that ends it. Undefined for other lines. */
export const parseSweepLine = (fields: LoggedFields): string | undefined =>
  fields.message === logMessages.sweepFinished ? text(fields.timestamp) : undefined;
