import { describe, expect, test } from 'vitest';
import type { Call, Invocation } from '../../../bench/load/invocation.ts';
import { usageOf, usagePerDue } from '../../../bench/load/usage.ts';

const call = (operation: string, more: Partial<Call> = {}): Call => ({
  ...{ operation, writeUnits: 0, readUnits: 0, answerBytes: 10 },
  ...more,
});

const invocation = (more: Partial<Invocation> = {}): Invocation => ({
  ...{ functionName: 'one', cold: false, beganAt: 0, wallMs: 20, cpuMs: 10, calls: [] },
  ...more,
});

describe('what a number of extractions have taken', () => {
  test('counts calls, units and bytes per extraction', () => {
    const calls = [
      call('Extractions UpdateItem', { writeUnits: 3, answerBytes: 800 }),
      call('Extractions GetItem', { readUnits: 1, answerBytes: 700 }),
    ];
    const usage = usageOf([invocation({ calls }), invocation({ calls })], 2);
    expect([...usage.calls]).toEqual([
      ['Extractions GetItem', 1],
      ['Extractions UpdateItem', 1],
    ]);
    expect(usage).toMatchObject({ writeUnits: 3, readUnits: 1, answerBytes: 1_500 });
  });

  test('leaves out the reads of secrets, which each process makes once in a while', () => {
    const usage = usageOf([invocation({ calls: [call('SecretsManager GetSecretValue')] })], 1);
    expect([...usage.calls]).toEqual([]);
    expect(usage.answerBytes).toBe(0);
  });

  test('adds up the medians of the functions, without the first invocation of a process', () => {
    const usage = usageOf(
      [
        ...[5, 7, 9].map((cpuMs) => invocation({ cpuMs, wallMs: 10 * cpuMs })),
        invocation({ cpuMs: 500, cold: true }),
        invocation({ functionName: 'other', cpuMs: 3, wallMs: 4 }),
      ],
      1,
    );
    expect(usage.cpuMs).toBe(7 + 3);
    expect(usage.wallMs).toBe(70 + 4);
  });
});

test('a due record takes what its sweep took more than one that found nothing, divided by how many were due', () => {
  const queries = Array.from({ length: 16 }, () => call('open Query', { readUnits: 0.5 }));
  const idle = usageOf([invocation({ calls: queries, cpuMs: 10 })], 1);
  const claims = Array.from({ length: 8 }, () => call('Extractions UpdateItem', { writeUnits: 3 }));
  const sweep = usageOf([invocation({ calls: [...queries, ...claims], cpuMs: 26 })], 1);
  const due = usagePerDue(sweep, idle, 8);
  expect([...due.calls]).toEqual([
    ['Extractions UpdateItem', 1],
    ['open Query', 0],
  ]);
  expect(due).toMatchObject({ writeUnits: 3, readUnits: 0, answerBytes: 10, cpuMs: 2 });
});
