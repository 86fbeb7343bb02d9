import { inspect } from 'node:util';
import type { StreamRecord } from '../../../lib/cli/aws/follow-stream.ts';

/** A JSON value on few lines, for people. */
export const showValue = (value: unknown): string => {
  return inspect(value, { depth: Number.POSITIVE_INFINITY, breakLength: 100, compact: 5 });
};

/**
 * A stream record as its consumers get it, in DynamoDB's own notation; of the old image only what the new one has not,
 * or has otherwise, as the rest would be there twice.
 */
export const showRecord = ({ eventName, dynamodb }: StreamRecord): string => {
  const { Keys, OldImage = {}, NewImage = {} } = dynamodb ?? {};
  const changed = Object.entries(OldImage).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(NewImage[name]),
  );
  return showValue({ eventName, dynamodb: { Keys, OldImage: Object.fromEntries(changed), NewImage } });
};
