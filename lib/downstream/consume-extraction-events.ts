import { decodeExtractionEvent, type StreamRecord } from './decode-extraction-event.ts';
import type { ExtractionEvent } from './extraction-event.ts';

/** A record in the batch is not from the stream of extractions, or this package is too old to read it. */
export class RecordNotOurs extends Error {
  override readonly name = 'RecordNotOurs';
}

/** Lambda's batch response, with the first record to retry, or empty. Mutable, as in the types of `aws-lambda`. */
export type PartialBatchResponse = { batchItemFailures: { itemIdentifier: string }[] };

/**
 * Handles the records of a batch in sequence, because the changes of an extraction must be handled in order. A batch is the event of
 * Lambda, or the list of records that EventBridge Pipes passes. It stops at the first failure and reports that record. Lambda then
 * continues from there (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
 *
 * If the first record of the batch fails, its error is thrown. Only then does Lambda log and count an error, and
 * split the batch until the bad record is alone with its retries. No error stays hidden, because a reported record is
 * the first of its next batch.
 *
 * @throws RecordNotOurs, or what `handle` throws
 *
 * @example
 * import { consumeExtractionEvents } from '@cosecha/cosecha';
 * import type { DynamoDBStreamEvent } from 'aws-lambda';
 *
 * export const handler = (batch: DynamoDBStreamEvent) =>
 *   consumeExtractionEvents(batch, async (event) => {
 *     if (event.kind === 'settled') console.log(event.extractionId, event.extraction.status);
 *   });
 */
export const consumeExtractionEvents = async (
  batch: { readonly Records: readonly StreamRecord[] } | readonly StreamRecord[],
  handle: (event: ExtractionEvent) => Promise<void>,
): Promise<PartialBatchResponse> => {
  // The types exclude null, but JSON does not.
  const given = batch as { readonly Records?: unknown } | readonly StreamRecord[] | null;
  const records: unknown = Array.isArray(given) ? given : (given as { Records?: unknown } | null)?.Records;
  if (!Array.isArray(records)) {
    throw new RecordNotOurs('It is not a batch of records: an event of the bus is decoded by itself.');
  }
  for (const [index, record] of (records as readonly StreamRecord[]).entries()) {
    try {
      const event = decodeExtractionEvent(record);
      if (event.kind === 'not-ours') throw new RecordNotOurs(event.problem);
      await handle(event);
    } catch (error) {
      const itemIdentifier = (record as StreamRecord | null)?.dynamodb?.SequenceNumber;
      if (index === 0 || itemIdentifier === undefined) throw error;
      return { batchItemFailures: [{ itemIdentifier }] };
    }
  }
  return { batchItemFailures: [] };
};
