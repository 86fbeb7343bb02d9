import { type BatchAnswer, handleMessages, type ReceivedMessage } from '../handle-messages.ts';
import { type EraseDeps, eraseExtraction } from './erase-extraction.ts';
import { eraseMessageSchema } from './erasure.ts';
import { type SearchDeps, searchForErasure } from './search.ts';

export type EraseMessagesDeps = EraseDeps & SearchDeps;

/** Handles each message of the erase queue. */
export const eraseMessages = (
  messages: readonly ReceivedMessage[],
  deps: EraseMessagesDeps,
): Promise<BatchAnswer> =>
  handleMessages(messages, {
    queue: 'erase queue',
    schema: eraseMessageSchema(),
    aboutOf: (message) => ('erase' in message ? { extractionId: message.erase.extractionId } : {}),
    handle: (message) =>
      'erase' in message
        ? eraseExtraction(message.erase, deps)
        : searchForErasure({ ...message.search, isLast: message.isLast, after: message.after }, deps),
    telemetry: deps.telemetry,
  });
