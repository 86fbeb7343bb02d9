const isThere = { S: [{ exists: true }] };

/**
 * The records of the stream that may tell of an outcome, as patterns of EventBridge, of which one must fit: a
 * record with an outcome, and one whose outcome was withdrawn. Both ask for a new image, which a REMOVE has not.
 *
 * A pattern cannot compare the old image with the new one, so what is written about a settled extraction for the
 * service's own sake passes as well, once or twice for each; the decoder calls it `housekeeping`. `exists` works on
 * leaves only, hence the `S`: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
 */
export const outcomePatterns = [
  { dynamodb: { NewImage: { settledAt: isThere } } },
  { dynamodb: { OldImage: { settledAt: isThere }, NewImage: { extractionId: isThere } } },
] as const;
