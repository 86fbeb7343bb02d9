import type { DynamoDBRecord } from 'aws-lambda';
import type { StreamRecord } from '../../../tools/cli/aws/follow-stream.ts';

/** A stream record as Lambda passes it on: with the stream's ARN, and its time in seconds. */
export const asLambdaRecord = (
  { dynamodb, ...record }: StreamRecord,
  eventSourceARN: string,
): DynamoDBRecord =>
  ({
    ...record,
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: (dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1_000,
    },
    eventSourceARN,
  }) as DynamoDBRecord;
