import { describeStreamRecord } from '../../../lib/cli/aws/describe-stream-record.ts';
import type { SandboxEvent } from '../../../test/sandbox/events.ts';
import type { Delivery } from '../../../test/sandbox/state.ts';
import { type HistoryEvent, isEnd, isTransition } from './follow-execution.ts';
import type { SystemEvent } from './watch-system.ts';

export type Description = { subject: string; text: string };

/** One line for a person who watches, or undefined for what another line says anyway. No secret is in it. */
export const describeSystemEvent = (event: SystemEvent): Description | undefined => {
  switch (event.source) {
    case 'stream':
      return { subject: 'stream', text: describeStreamRecord(event.record) };
    case 'machine':
      return describeHistory(event.event);
    case 'provider':
      return describeProvider(event.event);
  }
};

const describeHistory = (event: HistoryEvent): Description | undefined => {
  const subject = 'machine';
  if (isTransition(event)) return { subject, text: `state ${event.stateEnteredEventDetails?.name} entered` };
  if (isEnd(event))
    return { subject, text: `execution ${event.type?.replace('Execution', '').toLowerCase()}` };
  const failed = event.taskFailedEventDetails ?? event.taskTimedOutEventDetails;
  return failed ? { subject, text: `state failed with ${failed.error}` } : undefined;
};

const describeProvider = (event: SandboxEvent): Description | undefined => {
  switch (event.type) {
    case 'call':
      return { subject: 'provider', text: `${event.call.method} ${event.call.path} → ${event.call.status}` };
    case 'task-finished':
      return { subject: 'provider', text: `task ${event.taskId} ended ${event.taskStatus}` };
    case 'delivery':
      return { subject: 'webhook', text: describeDelivery(event.delivery) };
    default:
      return undefined;
  }
};

const describeDelivery = ({ attempt, taskStatus, mode, signatureValid, status, error }: Delivery): string => {
  const signature = signatureValid ? 'signed with HMAC-SHA256' : 'not validly signed';
  return `delivery ${attempt}: ${taskStatus}, ${mode ?? 'not sent'}, ${signature} → ${status ?? error}`;
};
