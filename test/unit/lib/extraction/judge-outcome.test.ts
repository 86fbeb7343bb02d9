import { expect, test } from 'vitest';
import { judgeOutcome } from '../../../../lib/extraction/judge-outcome.ts';

test.each([
  ['COMPLETED', 'well'],
  ['CREDENTIALS_LOCKED', 'user'],
  ['REJECTED user-restricted', 'user'],
  ['REJECTED credentials-refused-before', 'user'],
  ['REJECTED consent-revoked', 'user'],
  ['REJECTED session-token-refused', 'caller'],
  ['REJECTED http-400', 'caller'],
  ['REJECTED http-403', 'failed'],
  ['REJECTED http-4000', 'failed'],
  ['FAILED consent-revoked', 'failed'],
  ['PARTIAL', 'failed'],
  ['TIMED_OUT deadline-passed', 'failed'],
  ['A_STATUS_OF_A_LATER_VERSION', 'failed'],
])('%s ended %s', (outcome, judgement) => {
  expect(judgeOutcome(outcome)).toBe(judgement);
});
