import { inspect } from 'node:util';
import type { StreamRecord } from '../../cli/aws/follow-stream.ts';

/** A JSON value on few lines, for the terminal. */
export const showValue = (value: unknown): string => {
  return inspect(value, { depth: Number.POSITIVE_INFINITY, breakLength: 100, compact: 5 });
};

/**
 * A stream record as consumers receive it, in DynamoDB's notation. Of the old image it shows only the attributes that are
 * missing or different in the new one.
 */
export const showRecord = ({ eventName, dynamodb }: StreamRecord): string => {
  const { Keys, OldImage = {}, NewImage = {} } = dynamodb ?? {};
  const changed = Object.entries(OldImage).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(NewImage[name]),
  );
  return showValue({ eventName, dynamodb: { Keys, OldImage: Object.fromEntries(changed), NewImage } });
};
