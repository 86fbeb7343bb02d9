import type { StreamRecord } from './follow-stream.ts';

/** `MODIFY  RUNNING → COMPLETED  settledBy webhook`, from the two images of a record of the stream. */
export const describeStreamRecord = ({ eventName, dynamodb }: StreamRecord): string => {
  const { OldImage: before, NewImage: after } = dynamodb ?? {};
  const status = after?.status?.S ?? before?.status?.S ?? '?';
  const previous = before?.status?.S;
  const transition = previous !== undefined && previous !== status ? `${previous} → ${status}` : status;
  const added = ['taskId', 'settledBy', 'reason', 'collectedAt', 'collectionError'].flatMap((name) => {
    const value = after?.[name]?.S;
    return value !== undefined && before?.[name] === undefined ? `${name} ${value}` : [];
  });
  return [eventName, transition, ...added].join('  ');
};
