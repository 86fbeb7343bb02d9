import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNationalId } from '../../../../../../lib/provider/national-id.ts';
import {
  consentDurations,
  consentOutcomes,
  formatNationalId,
  formatUsername,
  largestResultBytes,
  longestTaskSeconds,
  outcomes,
  parseNationalId,
  parseUsername,
  plainScenario,
  readings,
  starts,
  webhooks,
} from '../../../../../../tools/acceptance/fake-provider/function/scenario.ts';

const anyScenario = fc.record({
  outcome: fc.constantFrom(...outcomes),
  endsAfter: fc.oneof(fc.constant('never' as const), fc.integer({ min: 0, max: longestTaskSeconds })),
  webhook: fc.constantFrom(...webhooks),
  start: fc.constantFrom(...starts),
  busyUntil: fc.nat(4_000_000_000),
  reads: fc.constantFrom(...readings),
  resultBytes: fc.nat(largestResultBytes),
});

test('every scenario survives the username', () => {
  fc.assert(
    fc.property(anyScenario, (scenario) => {
      expect(parseUsername(formatUsername(scenario))).toEqual(scenario);
    }),
  );
});

test('a username omits what the plain scenario has', () => {
  expect(formatUsername(plainScenario)).toBe('fake:');
  expect(formatUsername({ outcome: 'PARTIAL', endsAfter: 30, webhook: 'plain' })).toBe(
    'fake:outcome=PARTIAL&endsAfter=30',
  );
});

test.each([
  ['somebody'],
  [undefined],
  ['fake:outcome=RUNNING'],
  ['fake:outcome=COMPLETED&outcome=FAILED'],
  ['fake:endsAfter=901'],
  ['fake:endsAfter=-1'],
  ['fake:endsAfter='],
  ['fake:resultBytes=5000001'],
  ['fake:colour=red'],
])('%s is no scenario', (username) => {
  expect(parseUsername(username)).toBeUndefined();
});

const now = 1_795_000_000;
const anyUser = fc.record({
  outcome: fc.constantFrom(...consentOutcomes),
  endsAfter: fc.constantFrom(...consentDurations),
  authorizedAt: fc.integer({ min: now - 432_000, max: now + 432_000 }),
});

test('every scenario by consent survives a national id that Cosecha accepts', () => {
  fc.assert(
    fc.property(anyUser, (scenario) => {
      const nationalId = formatNationalId(scenario);
      expect(isNationalId(nationalId)).toBe(true);
      expect(parseNationalId(nationalId, now)).toEqual(scenario);
    }),
  );
});

test('dots and hyphen of a national id are optional', () => {
  const scenario = { outcome: 'FAILED', endsAfter: 20, authorizedAt: now } as const;
  expect(formatNationalId(scenario)).toBe('24000000-8');
  expect(parseNationalId('24.000.000-8', now)).toEqual(scenario);
  expect(parseNationalId('240000008', now)).toEqual(scenario);
});

test.each([['24000000-5'], ['94000000-9'], ['1-9'], ['somebody'], [undefined]])(
  'the national id %s is no scenario',
  (nationalId) => {
    expect(parseNationalId(nationalId, now)).toBeUndefined();
  },
);
