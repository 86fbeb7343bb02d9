import { describe, expect, it } from 'vitest';
import { describeSystemEvent } from '../../../../../infra/local/demo/describe-system-event.ts';
import { isEnd, isTransition } from '../../../../../infra/local/demo/follow-execution.ts';
import { showRecord } from '../../../../../infra/local/demo/show-value.ts';

const key = { extractionId: { S: 'e-1' } };
const running = { ...key, status: { S: 'RUNNING' }, taskId: { S: 't-1' }, dueShard: { N: '3' } };
const completed = { ...key, status: { S: 'COMPLETED' }, taskId: { S: 't-1' }, settledBy: { S: 'webhook' } };

describe('the details of a stream record', () => {
  it('omit attributes of the old image that the new one has too', () => {
    const text = showRecord({
      eventName: 'MODIFY',
      dynamodb: { Keys: key, OldImage: running, NewImage: completed },
    });
    expect(text).toContain("OldImage: { status: { S: 'RUNNING' }, dueShard: { N: '3' } }");
    expect(text).toContain("settledBy: { S: 'webhook' }");
  });
});

describe('an event of an execution', () => {
  const describeEvent = (event: object) =>
    describeSystemEvent({
      source: 'machine',
      extractionId: 'e-1',
      event: { timestamp: undefined, type: undefined, id: 1, ...event },
    })?.text;

  it('is a line if a state is entered, an attempt fails, or the execution ends', () => {
    const entered = { type: 'TaskStateEntered', stateEnteredEventDetails: { name: 'StartTask' } } as const;
    expect(describeEvent(entered)).toBe('state StartTask entered');
    expect(describeEvent({ type: 'TaskFailed', taskFailedEventDetails: { error: 'ProviderBusy' } })).toBe(
      'attempt failed: ProviderBusy',
    );
    const notYet = { error: 'NotYet', cause: '{"errorType": "NotYet", "errorMessage": "still-running"}' };
    expect(describeEvent({ type: 'TaskFailed', taskFailedEventDetails: notYet })).toBe(
      'attempt failed: NotYet (still-running)',
    );
    expect(describeEvent({ type: 'ExecutionSucceeded' })).toBe('execution succeeded');
    expect(describeEvent({ type: 'TaskScheduled' })).toBeUndefined();
  });

  it('is a transition if a state is entered, and the last one if the execution ends', () => {
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
});

describe('an event of the provider', () => {
  it('is a line with the signature and the answer of a delivery', () => {
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
