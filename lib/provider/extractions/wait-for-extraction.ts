/** Only in the published client (docs/provider-client.md). */

import type { Connection } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import { type ExtractionReading, pollExtraction } from './poll-extraction.ts';

/** Polls a v1 extraction until it has finished. Throws as `waitUntil` does. */
export const waitForExtraction = (
  connection: Connection,
  taskToken: string,
  taskId: string,
  options: WaitOptions = {},
): Promise<Extract<ExtractionReading, { kind: 'finished' }>> =>
  waitUntil(
    connection,
    async (bounded) => {
      const reading = await pollExtraction(bounded, taskToken, taskId);
      return reading.kind === 'finished' ? reading : undefined;
    },
    options,
  );
