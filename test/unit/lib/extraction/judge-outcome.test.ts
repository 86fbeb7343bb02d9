import { expect, test } from 'vitest';
import { judgeOutcome, outcomeText } from '../../../../lib/extraction/judge-outcome.ts';

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
  ['NOT_STARTED ciphertext-expired', 'caller'],
  ['NOT_STARTED quota-reached', 'failed'],
  ['NOT_STARTED start-window-over', 'failed'],
  ['TIMED_OUT deadline-passed', 'failed'],
  ['A_STATUS_OF_A_LATER_VERSION', 'failed'],
])('%s ended %s', (outcome, judgement) => {
  expect(judgeOutcome(outcome)).toBe(judgement);
});

test.each([
  [{ status: 'COMPLETED', lastProblem: 'results-not-stored' }, 'COMPLETED'],
  [{ status: 'REJECTED', reason: 'http-400', lastProblem: 'http-429' }, 'REJECTED http-400'],
  [{ status: 'NOT_STARTED', reason: 'start-window-over' }, 'NOT_STARTED start-window-over'],
  [
    { status: 'NOT_STARTED', reason: 'start-window-over', lastProblem: 'ciphertext-expired' },
    'NOT_STARTED ciphertext-expired',
  ],
])('%j is "%s"', (ended, text) => {
  expect(outcomeText(ended)).toBe(text);
});
