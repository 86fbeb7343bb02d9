import { decodeExtractionEvent, type StreamRecord } from './decode-extraction-event.ts';
import type { ExtractionEvent } from './extraction-event.ts';

/** A record in the batch is not one of ours: the function reads another stream, or this package is too old. */
export class RecordNotOurs extends Error {
  override readonly name = 'RecordNotOurs';
}

/** What Lambda wants to hear: where to go on, or nothing if all went well. Mutable, as the type of `aws-lambda` is. */
export type PartialBatchResponse = { batchItemFailures: { itemIdentifier: string }[] };

/**
 * Handles the records of a batch one after the other, as the changes of an extraction come in order and must be
 * handled so. At the first that fails it stops and names it to Lambda, which goes on from there
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
 *
 * Where that is the batch's very first, its error is thrown: only a batch that fails as a whole is split in two
 * until the bad record is alone with its retries, and only then Lambda logs and counts an error. No error goes
 * unheard by this, since a record that is named comes back as the first of its batch.
 *
 * @throws RecordNotOurs, or what `handle` throws
 */
export const consumeExtractionEvents = async (
  batch: { readonly Records: readonly StreamRecord[] },
  handle: (event: ExtractionEvent) => Promise<void>,
): Promise<PartialBatchResponse> => {
  for (const [index, record] of batch.Records.entries()) {
    try {
      const event = decodeExtractionEvent(record);
      if (event.kind === 'not-ours') throw new RecordNotOurs(event.problem);
      await handle(event);
    } catch (error) {
      const itemIdentifier = record.dynamodb?.SequenceNumber;
      if (index === 0 || itemIdentifier === undefined) throw error;
      return { batchItemFailures: [{ itemIdentifier }] };
    }
  }
  return { batchItemFailures: [] };
};
