import { describe, expect, it } from 'vitest';
import { describeStreamRecord, streamFacts } from '../../../../../tools/cli/aws/describe-stream-record.ts';

const key = { extractionId: { S: 'e-1' } };
const requested = { ...key, status: { S: 'REQUESTED' } };
const running = { ...key, status: { S: 'RUNNING' }, taskId: { S: 't-1' }, dueShard: { N: '3' } };
const completed = { ...key, status: { S: 'COMPLETED' }, taskId: { S: 't-1' }, settledBy: { S: 'webhook' } };

describe('the line of a stream record', () => {
  it('is the first status of a new record', () => {
    expect(describeStreamRecord({ eventName: 'INSERT', dynamodb: { NewImage: requested } })).toBe(
      'INSERT  REQUESTED',
    );
  });

  it('is the transition, with the attributes that are new', () => {
    expect(
      describeStreamRecord({ eventName: 'MODIFY', dynamodb: { OldImage: running, NewImage: completed } }),
    ).toBe('MODIFY  RUNNING → COMPLETED  settledBy webhook');
  });

  it('is the new attribute if the status does not change', () => {
    const collected = { ...completed, collectedAt: { S: '2026-01-01T00:00:00.000Z' } };
    expect(
      describeStreamRecord({ eventName: 'MODIFY', dynamodb: { OldImage: completed, NewImage: collected } }),
    ).toBe('MODIFY  COMPLETED  collectedAt 2026-01-01T00:00:00.000Z');
  });

  it('is the last status of a removed record', () => {
    expect(describeStreamRecord({ eventName: 'REMOVE', dynamodb: { OldImage: completed } })).toBe(
      'REMOVE  COMPLETED',
    );
  });
});

describe('the facts of a stream record', () => {
  it('are the kind of the event, and the state after the change', () => {
    const version = { schemaVersion: { N: '1' } };
    const failed = { ...running, ...version, status: { S: 'FAILED' }, reason: { S: 'OTHER' } };
    const settled = { ...failed, settledAt: { S: '2026-01-01T00:00:00.000Z' }, settledBy: { S: 'webhook' } };
    const dynamodb = { Keys: key, OldImage: running, NewImage: settled };
    expect(streamFacts({ eventID: 'event-1', eventName: 'MODIFY', dynamodb })).toMatchObject({
      extractionId: 'e-1',
      kind: 'settled',
      eventId: 'event-1',
      before: 'RUNNING',
      status: 'FAILED',
      taskId: 't-1',
      settledBy: 'webhook',
      reason: 'OTHER',
    });
  });
});
