import type { Call, Delivery, SandboxEvent } from './event-log.ts';

/** A line of output for an event. Undefined for an event that another line covers. */
export const describeEvent = (event: SandboxEvent): string | undefined => {
  const text = eventText(event);
  return text === undefined ? undefined : `${event.at.slice(11, 23)}  ${text}`;
};

/** The same without its time. */
export const eventText = (event: SandboxEvent): string | undefined => {
  switch (event.type) {
    case 'call':
      return describeCall(event.call);
    case 'task-finished':
      return `task ${event.taskId} ended ${event.taskStatus}`;
    case 'delivery':
      return describeDelivery(event.taskId, event.delivery);
    case 'deliveries-ended':
      return event.delivered ? undefined : `task ${event.taskId} no delivery was accepted`;
    case 'reset':
      return 'reset';
    // The line of their call covers both.
    case 'call-received':
    case 'task-created':
      return undefined;
  }
};

const describeCall = ({ method, path, status, taskId }: Call): string => {
  const answer = status === 'none' ? 'no answer' : status;
  const task = taskId === undefined || path.includes(taskId) ? '' : `  task ${taskId}`;
  return `${method} ${path} → ${answer}${task}`;
};

const describeDelivery = (taskId: string, { attempt, taskStatus, status, error }: Delivery): string => {
  const which = attempt === 0 ? 'requested delivery' : `delivery ${attempt}`;
  return `task ${taskId} ${which} ${taskStatus} → ${status ?? error}`;
};
