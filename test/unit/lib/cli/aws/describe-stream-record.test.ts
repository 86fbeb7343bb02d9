import { describe, expect, it } from 'vitest';
import { describeStreamRecord } from '../../../../../lib/cli/aws/describe-stream-record.ts';

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
