import { deadLettersOnAws, redriveLetters } from '../operate/dead-letters.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { Context } from './context.ts';

/** Reconciles the extraction of each message in the dead-letter queue. */
export const redrive = async ({ shell, connect }: Context): Promise<number> => {
  const deployment = await connect();
  shell.wait('reading the queue');
  const result = await redriveLetters({
    ...deadLettersOnAws(deployment),
    onDone: ({ id }, extractionId) => {
      shell.print(`${id}  ${extractionId} reconciled`, { messageId: id, outcome: 'done', extractionId });
    },
    onFailed: ({ id }, error) => {
      const why = explainFailure(error) ?? String(error);
      shell.print(`${id}  failed again, stays in the queue: ${why}`, {
        messageId: id,
        outcome: 'failed',
        why,
      });
    },
    onUnknown: ({ id }) => {
      shell.print(`${id}  unknown, stays in the queue`, { messageId: id, outcome: 'unknown' });
    },
  });
  shell.wait(undefined);
  const { done, failed, unknown } = result;
  shell.print(`${done} done and deleted, ${failed} failed again, ${unknown} unknown.`, result);
  return failed + unknown === 0 ? 0 : 1;
};
