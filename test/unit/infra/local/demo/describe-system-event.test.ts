import { describe, expect, it } from 'vitest';
import { describeSystemEvent } from '../../../../../infra/local/demo/describe-system-event.ts';
import { isEnd, isTransition } from '../../../../../infra/local/demo/follow-execution.ts';
import { showRecord } from '../../../../../infra/local/demo/show-value.ts';
import { executionArn } from '../../../../../lib/aws/step-functions.ts';
import { describeStreamRecord } from '../../../../../lib/cli/aws/describe-stream-record.ts';

const key = { extractionId: { S: 'e-1' } };
const requested = { ...key, status: { S: 'REQUESTED' } };
const running = { ...key, status: { S: 'RUNNING' }, taskId: { S: 't-1' }, dueShard: { N: '3' } };
const completed = { ...key, status: { S: 'COMPLETED' }, taskId: { S: 't-1' }, settledBy: { S: 'webhook' } };

describe('a stream record in one line', () => {
  it('is the first status of a new record', () => {
    expect(describeStreamRecord({ eventName: 'INSERT', dynamodb: { NewImage: requested } })).toBe(
      'INSERT  REQUESTED',
    );
  });

  it('is the move, with what has appeared', () => {
    expect(
      describeStreamRecord({ eventName: 'MODIFY', dynamodb: { OldImage: running, NewImage: completed } }),
    ).toBe('MODIFY  RUNNING → COMPLETED  settledBy webhook');
  });

  it('is what has appeared where the status stays', () => {
    const collected = { ...completed, collectedAt: { S: '2026-01-01T00:00:00.000Z' } };
    expect(
      describeStreamRecord({ eventName: 'MODIFY', dynamodb: { OldImage: completed, NewImage: collected } }),
    ).toBe('MODIFY  COMPLETED  collectedAt 2026-01-01T00:00:00.000Z');
  });

  it('is the last status of a record that its time to live has removed', () => {
    expect(describeStreamRecord({ eventName: 'REMOVE', dynamodb: { OldImage: completed } })).toBe(
      'REMOVE  COMPLETED',
    );
  });
});

describe('a stream record in whole', () => {
  it('leaves out of the old image what the new one has as well', () => {
    const text = showRecord({
      eventName: 'MODIFY',
      dynamodb: { Keys: key, OldImage: running, NewImage: completed },
    });
    expect(text).toContain("OldImage: { status: { S: 'RUNNING' }, dueShard: { N: '3' } }");
    expect(text).toContain("settledBy: { S: 'webhook' }");
  });
});

describe('an event of the history', () => {
  const describeEvent = (event: object) =>
    describeSystemEvent({
      source: 'machine',
      extractionId: 'e-1',
      event: { timestamp: undefined, type: undefined, id: 1, ...event },
    })?.text;

  it('is a line where a state is entered, fails or times out, and where the execution ends', () => {
    const entered = { type: 'TaskStateEntered', stateEnteredEventDetails: { name: 'StartTask' } } as const;
    expect(describeEvent(entered)).toBe('state StartTask entered');
    expect(describeEvent({ type: 'TaskFailed', taskFailedEventDetails: { error: 'ProviderBusy' } })).toBe(
      'state failed with ProviderBusy',
    );
    expect(describeEvent({ type: 'ExecutionSucceeded' })).toBe('execution succeeded');
    expect(describeEvent({ type: 'TaskScheduled' })).toBeUndefined();
  });

  it('counts as a transition where a state is entered, and as the end where the execution ends', () => {
    const event = (
      type: 'TaskStateEntered' | 'TaskStateExited' | 'ExecutionTimedOut' | 'ExecutionStarted',
    ) => ({
      timestamp: undefined,
      id: 1,
      type,
    });
    expect(isTransition(event('TaskStateEntered'))).toBe(true);
    expect(isTransition(event('TaskStateExited'))).toBe(false);
    expect(isEnd(event('ExecutionTimedOut'))).toBe(true);
    expect(isEnd(event('ExecutionStarted'))).toBe(false);
  });

  it('is found under the execution that is named after the extraction', () => {
    expect(
      executionArn('arn:aws:states:us-east-1:000000000000:stateMachine:Cosecha-local-extractions', 'e-1'),
    ).toBe('arn:aws:states:us-east-1:000000000000:execution:Cosecha-local-extractions:e-1');
  });
});

describe('an event of the provider', () => {
  it('is a line that says whether the webhook was signed and how it was answered', () => {
    const delivery = {
      attempt: 1,
      at: '2026-01-01T00:00:00.000Z',
      taskStatus: 'COMPLETED',
      mode: 'plain',
      signatureValid: true,
      status: 204,
    } as const;
    const event = { type: 'delivery', taskId: 't-1', delivery, seq: 1, at: delivery.at } as const;
    expect(describeSystemEvent({ source: 'provider', event })).toEqual({
      subject: 'webhook',
      text: 'delivery 1: COMPLETED, plain, signed with HMAC-SHA256 → 204',
    });
  });
});
