import { describe, expect, test } from 'vitest';
import { consumeExtractionEvents } from '../../../../lib/downstream/consume-extraction-events.ts';
import type { ExtractionEvent } from '../../../../lib/downstream/extraction-event.ts';
import { extraction, extractionIn } from '../../../support/extraction-fixtures.ts';
import { streamRecord } from './stream-records.ts';

const batch = () => [
  streamRecord({ new: extraction() }),
  streamRecord({ old: extractionIn('RUNNING'), new: extractionIn('COMPLETED') }),
  streamRecord({ old: extractionIn('COMPLETED') }),
];

const failingAt = (nth: number, handled: string[]) => async (event: ExtractionEvent) => {
  handled.push(event.kind);
  if (handled.length === nth) throw new Error(`the handler failed at ${nth}`);
};

describe('a batch', () => {
  test('is handled in order, one record at a time, and reported as done', async () => {
    const steps: string[] = [];
    const response = await consumeExtractionEvents({ Records: batch() }, async ({ kind }) => {
      steps.push(`${kind} begun`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${kind} done`);
    });
    expect(response).toEqual({ batchItemFailures: [] });
    expect(steps).toEqual(
      ['requested', 'settled', 'erased'].flatMap((kind) => [`${kind} begun`, `${kind} done`]),
    );
  });

  test('stops at the first record that fails, and names that one', async () => {
    const Records = batch();
    const handled: string[] = [];
    const response = await consumeExtractionEvents({ Records }, failingAt(2, handled));
    expect(handled).toEqual(['requested', 'settled']);
    expect(response).toEqual({
      batchItemFailures: [{ itemIdentifier: Records[1]?.dynamodb?.SequenceNumber }],
    });
  });

  test('fails as a whole where its very first record does, so that Lambda splits it', async () => {
    await expect(consumeExtractionEvents({ Records: batch() }, failingAt(1, []))).rejects.toThrow(
      'the handler failed at 1',
    );
  });

  test('is not passed over where it is not of ours', async () => {
    const foreign = streamRecord({ new: { ...extraction(), schemaVersion: 2 } });
    const handled: string[] = [];
    const handle = failingAt(9, handled);
    await expect(consumeExtractionEvents({ Records: [foreign, ...batch()] }, handle)).rejects.toMatchObject({
      name: 'RecordNotOurs',
      message: expect.stringContaining('schemaVersion'),
    });
    expect(await consumeExtractionEvents({ Records: [...batch(), foreign] }, handle)).toEqual({
      batchItemFailures: [{ itemIdentifier: foreign.dynamodb?.SequenceNumber }],
    });
    expect(handled).toHaveLength(3);
  });
});
