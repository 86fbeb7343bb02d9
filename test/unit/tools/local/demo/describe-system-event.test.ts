import { describe, expect, it } from 'vitest';
import { describeSystemEvent } from '../../../../../tools/local/demo/describe-system-event.ts';
import { isEnd, isTransition } from '../../../../../tools/local/demo/follow-execution.ts';
import { showRecord } from '../../../../../tools/local/demo/show-value.ts';
import type { Delivery } from '../../../../sandbox/state.ts';

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
      'polled: not yet (still-running)',
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
  const at = '2026-01-01T00:00:00.000Z';
  const deliver = (delivery: Partial<Delivery>) =>
    describeSystemEvent({
      source: 'provider',
      event: {
        type: 'delivery',
        taskId: 't-1',
        delivery: { attempt: 1, at, taskStatus: 'COMPLETED', ...delivery },
        seq: 1,
        at,
      },
    });

  it('is a line with the signature and the answer of a delivery', () => {
    expect(deliver({ mode: 'plain', signatureValid: true, status: 204 })).toEqual({
      subject: 'webhook',
      text: 'delivery 1: COMPLETED, plain, signed with HMAC-SHA256 → 204',
    });
    expect(deliver({ mode: 'encrypted', signatureValid: false, status: 401 })?.text).toBe(
      'delivery 1: COMPLETED, encrypted, not validly signed → 401',
    );
  });

  it('states that a dropped delivery was not sent', () => {
    expect(deliver({ error: 'dropped' })?.text).toBe('delivery 1: COMPLETED, not sent (dropped)');
  });

  it('names the user of a start call, and no user of a call about consents', () => {
    const call = { seq: 1, at, method: 'POST', path: '/api/v2/tasks', status: 200 };
    const textOf = (more: object) =>
      describeSystemEvent({
        source: 'provider',
        event: { type: 'call', call: { ...call, ...more }, seq: 1, at },
      })?.text;
    expect(textOf({ username: 'so\u001bme', credentialsMode: 'raw' })).toBe(
      'POST /api/v2/tasks → 200  user so\\u001bme',
    );
    expect(textOf({ username: '11111111-1', path: '/api/v1/token/task' })).toBe(
      'POST /api/v1/token/task → 200',
    );
  });
});
