import type { DynamoDBStreamEvent } from 'aws-lambda';
import { consumeExtractionEvents } from '../../lib/downstream/consume-extraction-events.ts';
import { failingReference } from './fake-provider/function/failing-reference.ts';

/** Reads the stream of a stage as a downstream service does: it logs each outcome, or fails where a check demands it. */
export const handler = (batch: DynamoDBStreamEvent) =>
  consumeExtractionEvents(batch, async (event) => {
    if (event.kind !== 'settled') return;
    const { extractionId, reference } = event.extraction;
    if (reference === failingReference) throw new Error('The reader fails, as the check demands.');
    console.log(JSON.stringify({ message: 'Read.', extractionId }));
  });
