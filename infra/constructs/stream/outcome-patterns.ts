const isThere = { S: [{ exists: true }] };

/**
 * EventBridge patterns, of which one has to match: a record with an outcome, one whose outcome was withdrawn, one that is to be erased, or one
 * that was. The first three require a new image, which a REMOVE does not have. A REMOVE by time to live has an identity, and does not match.
 *
 * A pattern cannot compare the two images, so internal updates of a settled extraction match as well, one or two for
 * each; the decoder returns them as `housekeeping`. `exists` works on leaves only, hence the `S`:
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
 */
export const outcomePatterns = [
  { dynamodb: { NewImage: { settledAt: isThere } } },
  { dynamodb: { OldImage: { settledAt: isThere }, NewImage: { extractionId: isThere } } },
  { dynamodb: { NewImage: { erasingAt: isThere } } },
  { eventName: ['REMOVE'], userIdentity: { type: [{ exists: false }] } },
] as const;
