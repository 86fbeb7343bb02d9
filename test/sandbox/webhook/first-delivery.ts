import type { Sandbox } from '../state.ts';
import { isDelivered } from './attempt-delivery.ts';

/** Resolves when a delivery of the task was accepted, or none can be: no webhook is configured, or no attempt is left. */
export const firstDelivery = (sandbox: Sandbox, taskId: string): Promise<void> =>
  new Promise((resolve) => {
    const stopListening = sandbox.events.subscribe((event) => {
      const isOver =
        event.type === 'reset' ||
        ('taskId' in event &&
          event.taskId === taskId &&
          (event.type === 'deliveries-ended' ||
            (event.type === 'delivery' &&
              (isDelivered(event.delivery) || event.delivery.error === 'not-configured'))));
      if (!isOver) return;
      stopListening();
      resolve();
    });
  });
