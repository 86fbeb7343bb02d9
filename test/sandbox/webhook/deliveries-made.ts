import type { Sandbox } from '../state.ts';

/** Resolves when `count` deliveries of the task have been answered or have failed, or no more will be made. */
export function deliveriesMade(sandbox: Sandbox, taskId: string, count: number): Promise<void> {
  return new Promise((resolve) => {
    let made = 0;
    const done = () => {
      stopListening();
      resolve();
    };
    const stopListening = sandbox.events.subscribe((event) => {
      if (event.type === 'reset') return done();
      if (!('taskId' in event) || event.taskId !== taskId) return;
      if (event.type === 'deliveries-ended') return done();
      if (event.type === 'delivery' && event.delivery.error !== 'dropped') made += 1;
      if (made >= count) done();
    });
  });
}
