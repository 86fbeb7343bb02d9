import { expect, test } from 'vitest';
import { consumeExtractionEvents } from '#lib/downstream/consume-extraction-events.ts';
import type { ExtractionEvent } from '#lib/downstream/extraction-event.ts';
import type { LambdaRecord } from '#lib/downstream/stream-records-for-tests.ts';
import { collectedEvent, requestedEvent, settledEvent } from '#lib/downstream/stream-records-for-tests.ts';

test('a batch is continued at the record that failed, and split if it is the first one', async () => {
  const Records = [requestedEvent(), settledEvent(), collectedEvent()];
  const fails = (kind: string) => async (event: ExtractionEvent) => {
    if (event.kind === kind) throw new Error('The handler fails.');
  };
  const { batchItemFailures } = await consumeExtractionEvents({ Records }, fails('settled'));
  expect(batchItemFailures).toEqual([{ itemIdentifier: Records[1]?.dynamodb.SequenceNumber }]);
  await expect(consumeExtractionEvents({ Records }, fails('requested'))).rejects.toThrow(
    'The handler fails.',
  );
});

const maxTries = 4;

/**
 * Lambda hands over a batch until all of it is handled. A function error splits it, and a reported record begins the next one
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html). A record that fails alone is tried some
 * times. Returns the records that were given up.
 */
const deliver = async (
  records: readonly LambdaRecord[],
  handle: (event: ExtractionEvent) => Promise<void>,
  tries = 1,
): Promise<readonly LambdaRecord[]> => {
  const answer = await consumeExtractionEvents({ Records: records }, handle).catch(() => undefined);
  if (answer !== undefined) {
    const [failed] = answer.batchItemFailures;
    if (failed === undefined) return [];
    const from = records.findIndex(({ dynamodb }) => dynamodb.SequenceNumber === failed.itemIdentifier);
    return deliver(records.slice(from), handle);
  }
  if (records.length === 1) return tries === maxTries ? records : deliver(records, handle, tries + 1);
  const middle = Math.ceil(records.length / 2);
  const [first, second] = [records.slice(0, middle), records.slice(middle)];
  return [...(await deliver(first, handle)), ...(await deliver(second, handle))];
};

/** So many extractions, each with the changes of its life. Those of one are not beside each other. */
const lifeOf = (extractions: number): readonly LambdaRecord[] =>
  [requestedEvent, settledEvent, collectedEvent].flatMap((event) =>
    Array.from({ length: extractions }, (_, index) => event({ extractionId: `extraction-${index}` })),
  );

const sizes = [1, 2, 3, 4];

/** Delivers the life of some extractions. Returns the sequence numbers that were handled and given up, in order. */
const run = async (size: number, fails: (sequenceNumber: string, calls: number) => boolean) => {
  const records = lifeOf(size);
  const numbers = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
  const handled: string[] = [];
  let calls = 0;
  const givenUp = await deliver(records, async ({ sequenceNumber }) => {
    calls += 1;
    if (fails(String(numbers.indexOf(sequenceNumber)), calls)) throw new Error('The handler fails.');
    handled.push(sequenceNumber);
  });
  return { numbers, calls, handled, givenUp: givenUp.map(({ dynamodb }) => dynamodb.SequenceNumber) };
};

test.each(sizes)(
  'of %i extractions, a failure at whichever call loses, repeats and reorders nothing',
  async (size) => {
    for (let failsAt = 1, made = 1; failsAt <= made; failsAt += 1) {
      const { calls, handled, numbers, givenUp } = await run(size, (_number, call) => call === failsAt);
      expect(handled).toEqual(numbers);
      expect(givenUp).toEqual([]);
      made = calls;
    }
  },
);

test.each(sizes)('of %i extractions, a record that always fails is given up alone', async (size) => {
  for (let bad = 0; bad < size * 3; bad += 1) {
    const { handled, numbers, givenUp } = await run(size, (number) => number === String(bad));
    expect(givenUp).toEqual([numbers[bad]]);
    expect(handled).toEqual(numbers.filter((_number, index) => index !== bad));
  }
});
