import { bounded } from '../explain/bounded-text.ts';
import { deadLettersOnAws, redriveLetters } from '../operate/dead-letters.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { CommandContext } from './command-context.ts';

type RedriveOptions = { readonly remove?: readonly string[] };

/**
 * Reconciles the extraction of each message in the dead-letter queue. The start of a message that Cosecha did not write is printed, and it stays
 * unless `remove` has its id. No other message is ever deleted without its extraction being reconciled.
 */
export const redrive = async ({ remove = [] }: RedriveOptions, { shell, connect }: CommandContext) => {
  const deployment = await connect();
  shell.wait('reading the queue');
  const result = await redriveLetters({
    ...deadLettersOnAws(deployment),
    onDone: ({ id }, extractionId) => {
      shell.print(`${id}  ${extractionId} reconciled`, { messageId: id, outcome: 'done', extractionId });
    },
    onFailed: ({ id }, error) => {
      const explanation = explainFailure(error) ?? String(error);
      shell.print(`${id}  failed again, stays in the queue: ${explanation}`, {
        messageId: id,
        outcome: 'failed',
        explanation,
      });
    },
    onUnknown: ({ id, body }) => {
      const beginning = bounded(body);
      shell.print(`${id}  unknown, stays in the queue: ${beginning}`, {
        messageId: id,
        outcome: 'unknown',
        body: beginning,
      });
    },
    isRemoved: ({ id }) => remove.includes(id),
    onRemoved: ({ id }) => shell.print(`${id}  removed`, { messageId: id, outcome: 'removed' }),
  });
  shell.wait(undefined);
  const { done, failed, unknown, removed } = result;
  const rest = removed === 0 ? '' : `, ${removed} removed`;
  shell.print(`${done} done and deleted, ${failed} failed again, ${unknown} unknown${rest}.`, result);
  if (unknown > 0) {
    shell.hint('Cosecha did not write an unknown message. --remove <messageId> deletes it for good.');
  }
  return failed + unknown === 0 ? 0 : 1;
};
