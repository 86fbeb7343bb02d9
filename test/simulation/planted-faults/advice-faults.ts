import type { Faults } from './planted-fault.ts';

const transitions = 'lib/extraction/transitions.ts';
const decide = 'lib/extraction/decide.ts';

/** Faults of why an extraction ended, and of what to do next. */
export const adviceFaults: Faults = {
  'Callers are advised to request an extraction again that may run.': {
    file: 'lib/extraction/advice.ts',
    find: "adviceOfCode(reason, status) ?? 'ask-provider'",
    replace: "adviceOfCode(reason, status) ?? 'request-again'",
    caughtBy: 'no-repeat-beside-a-task',
  },
  'A close keeps the advice to wait.': {
    file: transitions,
    find: 'adviceOf({ ...decision.record, ...set, dueShard: undefined })',
    replace: 'adviceOf({ ...decision.record, ...set })',
    caughtBy: 'advice-follows',
  },
  'The end of the grace of TIMED_OUT is housekeeping to consumers.': {
    file: 'lib/downstream/decode-extraction-event.ts',
    find: "if (now.advice !== undefined && now.advice !== before.advice) return { kind: 'advised' } as const;",
    caughtBy: 'change-is-published',
  },
  'Collected results bring no advice.': {
    file: transitions,
    find: 'defined({ results, actionResults, advice })',
    replace: 'defined({ results, actionResults })',
    caughtBy: 'advice-follows',
  },
  'A start that was not accepted does not leave its cause in the record.': {
    file: decide,
    find: '{ ...decision, notBefore, lastProblem: problem }',
    replace: '{ ...decision, notBefore }',
    caughtBy: 'problem-is-of-last-try',
  },
  'Each start that is held writes its cause.': {
    file: decide,
    find: 'if (notBefore === undefined || isTooLateToStart(context)) return failed;',
    caughtBy: 'cause-costs-no-write',
    where: { scenario: 'breakers-open' },
  },
  'The cause of an earlier try stays beside an accepted start.': {
    file: transitions,
    find: "remove: ['reason', 'lastProblem', 'advice', 'settledAt', 'settledBy', 'expiresAt'],",
    replace: "remove: ['reason', 'advice', 'settledAt', 'settledBy', 'expiresAt'],",
    caughtBy: 'problem-is-of-last-try',
  },
  'A start that was refused under a consent that the provider does not know ends with the status of the refusal.':
    {
      file: 'lib/extraction/start/start-call.ts',
      find: "if (error instanceof ProviderRefused && error.status === 404) return 'consent-unknown';",
      replace: '',
      caughtBy: 'consent-is-the-reason',
      where: { scenario: 'consent-refused', faults: 1 },
    },
  'A start that was refused with an errorType ends with it, whatever the consent shows.': {
    file: 'lib/extraction/start/start-call.ts',
    find: '(await readConsentProblem(token)) ?? result.reason;',
    replace:
      "(await readConsentProblem(token).then((shown) => (result.reason === 'CONSENT' ? undefined : shown))) ?? result.reason;",
    caughtBy: 'consent-is-the-reason',
    where: { scenario: 'consent-refused-v2', faults: 1 },
  },
};
