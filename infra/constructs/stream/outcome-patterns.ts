const isThere = { S: [{ exists: true }] };

/**
 * EventBridge patterns, of which one has to match: a record with an outcome, or one whose outcome was withdrawn. Both
 * require a new image, which a REMOVE does not have.
 *
 * A pattern cannot compare the two images, so internal updates of a settled extraction match as well, one or two for
 * each; the decoder returns them as `housekeeping`. `exists` works on leaves only, hence the `S`:
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
 */
export const outcomePatterns = [
  { dynamodb: { NewImage: { settledAt: isThere } } },
  { dynamodb: { OldImage: { settledAt: isThere }, NewImage: { extractionId: isThere } } },
] as const;
