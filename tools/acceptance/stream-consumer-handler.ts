import type { DynamoDBStreamEvent } from 'aws-lambda';
import { consumeExtractionEvents } from '../../lib/downstream/consume-extraction-events.ts';

/** It fails on extractions with this reference, so that their records reach its failure bucket. */
export const failingReference = 'acceptance: the consumer fails on this one';

/** Reads the stream of a stage as a downstream service does: it logs each outcome, or fails where a check demands it. */
export const handler = (batch: DynamoDBStreamEvent) =>
  consumeExtractionEvents(batch, async (event) => {
    if (event.kind !== 'settled') return;
    const { extractionId, reference } = event.extraction;
    if (reference === failingReference) throw new Error('The consumer fails, as the check demands.');
    console.log(JSON.stringify({ message: 'Read.', extractionId }));
  });
