import { expect, test } from 'vitest';
import { decodeExtractionEvent } from '../../../../../lib/downstream/decode-extraction-event.ts';
import type { StreamRecord } from '../../../../../tools/cli/aws/follow-stream.ts';
import { asLambdaEvent, lambdaFailureIn } from '../../../../../tools/cli/listen/lambda-event.ts';
import { schemaViolations } from '../../../docs/contract-schemas.ts';
import { documentedRecords } from '../../../docs/documented-records.ts';

test('a record of the Streams API becomes the record that Lambda passes, also of a removal by time to live', () => {
  for (const [kind, lambda] of documentedRecords()) {
    const { eventSourceARN, dynamodb, ...record } = lambda as never as Record<
      string,
      Record<string, unknown>
    >;
    // The SDK has a Date, and no ARN of the stream.
    const seconds = Number(dynamodb?.ApproximateCreationDateTime);
    const read = { ...dynamodb, ApproximateCreationDateTime: new Date(seconds * 1_000) };
    const streamed = { ...record, dynamodb: read } as never as StreamRecord;
    expect([kind, asLambdaEvent(streamed, String(eventSourceARN))]).toEqual([kind, { Records: [lambda] }]);
    if (kind !== 'erased') continue;
    const expired = {
      ...streamed,
      userIdentity: { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' },
    };
    const [one] = asLambdaEvent(expired, 'arn').Records;
    expect(one).toMatchObject({ userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } });
    expect(decodeExtractionEvent(one as never).kind).toBe('expired');
    expect(schemaViolations('stream-record.json#/$defs/expired', one)).toEqual([]);
  }
});

test.each([
  ['{"batchItemFailures":[]}', undefined],
  ['', undefined],
  ['null', undefined],
  ['OK', undefined],
  ['{"batchItemFailures":[{"itemIdentifier":"1"}]}', 'the function reported a failed record'],
  ['{"errorType":"Error","errorMessage":"failure","trace":[]}', 'the function failed'],
  ['Task timed out after 1.00 seconds', 'the function timed out'],
])('after the answer %s a record is repeated: %s', (body, failure) => {
  expect(lambdaFailureIn(body)).toBe(failure);
});
