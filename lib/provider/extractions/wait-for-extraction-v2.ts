/** Only in the published client (docs/provider-client.md). */

import type { Connection } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import { type ExtractionReadingV2, pollExtractionV2 } from './poll-extraction-v2.ts';

/** Polls a v2 extraction until it has finished. Throws as `waitUntil` does. */
export const waitForExtractionV2 = (
  connection: Connection,
  taskToken: string,
  taskId: string,
  options: WaitOptions = {},
): Promise<Extract<ExtractionReadingV2, { kind: 'finished' }>> =>
  waitUntil(
    connection,
    async (bounded) => {
      const reading = await pollExtractionV2(bounded, taskToken, taskId);
      return reading.kind === 'finished' ? reading : undefined;
    },
    options,
  );
