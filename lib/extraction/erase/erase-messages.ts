import type { BatchAnswer, ReceivedMessage } from '../reconcile-message.ts';
import { type EraseDeps, eraseExtraction } from './erase-extraction.ts';
import { parseEraseMessage } from './erasure.ts';
import { type SearchDeps, searchForErasure } from './search.ts';

export type EraseMessagesDeps = EraseDeps & SearchDeps;

/** Returns whether the message is done. A failure is logged, and the message stays in the queue. */
const eraseMessage = async ({ body }: ReceivedMessage, deps: EraseMessagesDeps): Promise<boolean> => {
  const message = parseEraseMessage(body);
  if (message === undefined) {
    deps.telemetry.failure('A message of the erase queue could not be read.', undefined);
    return false;
  }
  const about = 'erase' in message ? { extractionId: message.erase.extractionId } : {};
  deps.telemetry.about(about);
  try {
    if ('erase' in message) await eraseExtraction(message.erase, deps);
    else await searchForErasure({ ...message.search, isLast: message.isLast, after: message.after }, deps);
    return true;
  } catch (error) {
    deps.telemetry.failure('An extraction could not be erased.', error, about);
    return false;
  }
};

/** Handles each message of the erase queue, one after another. */
export const eraseMessages = async (
  messages: readonly ReceivedMessage[],
  deps: EraseMessagesDeps,
): Promise<BatchAnswer> => {
  const failed: { itemIdentifier: string }[] = [];
  for (const message of messages) {
    if (!(await eraseMessage(message, deps))) failed.push({ itemIdentifier: message.messageId });
  }
  return { batchItemFailures: failed };
};
