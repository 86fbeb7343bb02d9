import { bounded } from '../explain/bounded-text.ts';
import { type DeadLetter, deadLettersOnAws, type Redriven, redriveLetters } from '../operate/dead-letters.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { CommandContext } from './command-context.ts';

type RedriveOptions = { readonly remove?: readonly string[] };

/** What became of a message, as a text and as facts. */
const describe = ({ body }: DeadLetter, redriven: Redriven): readonly [string, Record<string, string>] => {
  switch (redriven.outcome) {
    case 'done':
      return [`${redriven.extractionId} reconciled`, { extractionId: redriven.extractionId }];
    case 'failed': {
      const explanation = explainFailure(redriven.error) ?? String(redriven.error);
      return [`failed again, stays in the queue: ${explanation}`, { explanation }];
    }
    case 'unknown':
      return [`unknown, stays in the queue: ${bounded(body)}`, { body: bounded(body) }];
    case 'removed':
      return ['removed', {}];
  }
};

/**
 * Reconciles the extraction of each message in the dead-letter queue. The start of a message that Cosecha did not write is printed, and it stays
 * unless `remove` has its id. No other message is ever deleted without its extraction being reconciled.
 */
export const redrive = async ({ remove = [] }: RedriveOptions, { shell, connect }: CommandContext) => {
  const deployment = await connect();
  shell.wait('reading the queue');
  const result = await redriveLetters({
    ...deadLettersOnAws(deployment),
    remove,
    onLetter: (letter, redriven) => {
      const [text, facts] = describe(letter, redriven);
      shell.print(`${letter.id}  ${text}`, { messageId: letter.id, outcome: redriven.outcome, ...facts });
    },
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
