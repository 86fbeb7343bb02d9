import type { Sandbox } from '../state.ts';
import { isDelivered } from './attempt-delivery.ts';

/** Resolves when `count` deliveries of the task were accepted, or no more will be sent. */
export const deliveriesMade = (sandbox: Sandbox, taskId: string, count: number): Promise<void> =>
  new Promise((resolve) => {
    let made = 0;
    const done = () => {
      stopListening();
      resolve();
    };
    const stopListening = sandbox.events.subscribe((event) => {
      if (event.type === 'reset') return done();
      if (!('taskId' in event) || event.taskId !== taskId) return;
      if (event.type === 'deliveries-ended') return done();
      if (event.type === 'delivery' && isDelivered(event.delivery)) made += 1;
      if (made >= count) done();
    });
  });
