import { describe, expect, it } from 'vitest';
import { accessLogBytes } from '../../../bench/cost/bill/access-log-bytes.ts';
import { machineLogBytes } from '../../../bench/cost/bill/machine-log-bytes.ts';
import { platformLogBytes, thrownErrorBytes } from '../../../bench/cost/bill/platform-logs.ts';

const invoked = { billedMs: 445, memoryMB: 512, failed: false };

describe("the platform's lines about an invocation", () => {
  it('are START, END and REPORT in text, whatever the level', () => {
    const text = platformLogBytes({ format: 'Text', systemLevel: 'INFO' }, invoked);
    // 70 + 51 + some 140
    expect(text).toBeGreaterThan(250);
    expect(text).toBeLessThan(280);
    expect(platformLogBytes({ format: 'Text', systemLevel: 'WARN' }, invoked)).toBe(text);
  });

  it('are fewer in JSON the higher the level', () => {
    const [debug, info, warn] = (['DEBUG', 'INFO', 'WARN'] as const).map((systemLevel) =>
      platformLogBytes({ format: 'JSON', systemLevel }, invoked),
    );
    expect(debug).toBeGreaterThan(info ?? 0);
    expect(info).toBeGreaterThan(warn ?? 0);
    expect(warn).toBe(0);
  });

  it('tell of a failure at any level', () => {
    const failed = { ...invoked, failed: true };
    expect(platformLogBytes({ format: 'JSON', systemLevel: 'WARN' }, failed)).toBeGreaterThan(200);
  });
});

describe("the runtime's line about an error", () => {
  it('names it, and has the frames of its stack, if there are any', () => {
    const named = thrownErrorBytes(true, 0);
    // 24 for the time, 36 for the request's id, some 100 for the rest.
    expect(named).toBeGreaterThan(150);
    expect(named).toBeLessThan(250);
    expect(thrownErrorBytes(true, 900)).toBe(named + 900);
  });
  it('is not there without an error', () => expect(thrownErrorBytes(false, 0)).toBe(0));
});

describe('a line of the access log', () => {
  const request = { routeKey: 'GET /extractions/{extractionId}', isSigned: true };

  it('has the values of the variables in the place of their names', () => {
    expect(accessLogBytes('{"route":"$context.routeKey"}', request)).toBe(
      `{"route":"${request.routeKey}"}\n`.length,
    );
    expect(accessLogBytes('$context.path', request)).toBe('/extractions/'.length + 36 + 1);
  });

  it('names a caller only where callers sign', () => {
    const format = '$context.identity.userArn';
    expect(accessLogBytes(format, { ...request, isSigned: false })).toBe(2);
    expect(accessLogBytes(format, request)).toBeGreaterThan(60);
  });

  it('has a dash for what is not known', () => {
    expect(accessLogBytes('$context.integrationErrorMessage', request)).toBe(2);
  });
});

describe("the machine's log", () => {
  it('has the events that its level lets through', () => {
    expect(machineLogBytes('ERROR', 'TaskFailed')).toBeGreaterThan(200);
    expect(machineLogBytes('ERROR', 'TaskStateEntered')).toBe(0);
    expect(machineLogBytes('ALL', 'TaskStateEntered')).toBeGreaterThan(200);
    expect(machineLogBytes('FATAL', 'TaskFailed')).toBe(0);
    expect(machineLogBytes('FATAL', 'ExecutionFailed')).toBeGreaterThan(200);
    expect(machineLogBytes('OFF', 'ExecutionFailed')).toBe(0);
  });
});
