import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { defined } from '../../../lib/defined.ts';
import type { StreamRecord } from '../aws/follow-stream.ts';

/** A stream record as Lambda passes it on: with the stream's ARN, its time in seconds, and a user identity in lower case. */
export const asLambdaRecord = ({ dynamodb, userIdentity, ...record }: StreamRecord, eventSourceARN: string) =>
  defined({
    ...record,
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: (dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1_000,
    },
    userIdentity:
      userIdentity === undefined
        ? undefined
        : { type: userIdentity.Type, principalId: userIdentity.PrincipalId },
    eventSourceARN,
  }) as DynamoDBRecord;

export const asLambdaEvent = (record: StreamRecord, streamArn: string): DynamoDBStreamEvent => ({
  Records: [asLambdaRecord(record, streamArn)],
});

/**
 * Why Lambda would repeat the record after this answer of a function, or undefined. Lambda and its emulator for containers
 * report an error of the function with the status 200, and the emulator by the body alone
 * (https://github.com/aws/aws-lambda-runtime-interface-emulator/issues/20 and /21).
 */
export const lambdaFailureIn = (body: string): string | undefined => {
  if (body.startsWith('Task timed out')) return 'the function timed out';
  const answer = parsed(body);
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { errorType, errorMessage, batchItemFailures } = answer as Readonly<Record<string, unknown>>;
  if (errorType !== undefined || errorMessage !== undefined) return 'the function failed';
  const failed = Array.isArray(batchItemFailures) && batchItemFailures.length > 0;
  return failed ? 'the function reported a failed record' : undefined;
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
