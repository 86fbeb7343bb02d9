import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
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

/** The facts of a record for programs: the kind of the event as docs/stream.md has it, and the state after the change. */
export const streamFacts = (record: StreamRecord) => {
  const { kind } = decodeExtractionEvent(record);
  const { Keys, OldImage, NewImage, ApproximateCreationDateTime } = record.dynamodb ?? {};
  const text = (name: string): string | undefined => NewImage?.[name]?.S;
  return {
    at: ApproximateCreationDateTime?.toISOString(),
    extractionId: Keys?.extractionId?.S,
    kind,
    eventId: record.eventID,
    eventName: record.eventName,
    before: OldImage?.status?.S,
    status: text('status'),
    taskId: text('taskId'),
    settledBy: text('settledBy'),
    reason: text('reason'),
    collectionError: text('collectionError'),
  };
};
