import type { SandboxEvent } from '../../../test/sandbox/events.ts';
import type { Call, Delivery } from '../../../test/sandbox/state.ts';
import { describeStreamRecord } from '../../cli/aws/describe-stream-record.ts';
import { isPoll } from '../../cli/explain/execution-lines.ts';
import { printable } from '../../cli/terminal/printable.ts';
import { type HistoryEvent, isEnd, isTransition } from './follow-execution.ts';
import type { SystemEvent } from './watch-system.ts';

export type Description = { subject: string; text: string };

/** One line for the terminal, without secrets. Undefined for an event that adds nothing to other lines. */
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
  if (failed === undefined) return undefined;
  const message = messageOf(failed.cause);
  return isPoll(failed.error)
    ? { subject, text: `polled: not yet ${message}`.trim() }
    : { subject, text: `attempt failed: ${[failed.error, message].join(' ').trim()}` };
};

/**
 * The message of an error that a function threw, in parentheses. The functions throw no secrets, as their middleware
 * conceals every error but those that Step Functions needs.
 */
const messageOf = (cause = ''): string => {
  const [, message] = /"errorMessage": ?"([^"]*)"/.exec(cause) ?? [];
  return message === undefined ? '' : `(${message})`;
};

const describeProvider = (event: SandboxEvent): Description | undefined => {
  switch (event.type) {
    case 'call':
      return { subject: 'provider', text: describeCall(event.call) };
    case 'task-finished':
      return { subject: 'provider', text: `task ${event.taskId} ended ${event.taskStatus}` };
    case 'delivery':
      return { subject: 'webhook', text: describeDelivery(event.delivery) };
    default:
      return undefined;
  }
};

/** With the username of a start call. In other calls it may be a national id. */
const describeCall = ({ method, path, status, username, credentialsMode }: Call): string => {
  const user = username === undefined || credentialsMode === undefined ? '' : `  user ${printable(username)}`;
  return `${method} ${path} → ${status}${user}`;
};

const describeDelivery = ({ attempt, taskStatus, mode, signatureValid, status, error }: Delivery): string => {
  const what = `delivery ${attempt}: ${taskStatus}`;
  // Without a mode it was not sent: a plan dropped it, or the client has no URL.
  if (mode === undefined) return `${what}, not sent (${error})`;
  const signature = signatureValid ? 'signed with HMAC-SHA256' : 'not validly signed';
  return `${what}, ${mode}, ${signature} → ${status ?? error}`;
};
