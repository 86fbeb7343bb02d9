import type { Faults } from './planted-fault.ts';

const refusals = 'lib/extraction/refused-credentials.ts';
const recordDelivery = 'lib/extraction/record-delivery.ts';
const start = 'lib/extraction/start/start.ts';

const refuse = "if (checked.isRefused) return finishWith(record, { kind: 'refused-before' });";
const check = `const checked = await checkRefusalMark(call, deps);
    known = checked.known;
    ${refuse}`;
/** Claims the start, and then reads the mark. */
const claimThenCheck = `known = call;
    const early = markStarting({ record, attemptId: deps.newAttemptId(), now: now(), timings });
    const first = await startWriter(item, deps)(early, [], record);
    if ((await checkRefusalMark(call, deps)).isRefused) return finishWith(first.record, { kind: 'refused-before' });`;

/** Faults of credentials that the bank refused, which are searched in extractions of one login. */
export const loginFaults: Faults = {
  'The MAC of credentials leaves out the password.': {
    file: refusals,
    find: '[userOf(value), value.password]',
    replace: '[userOf(value)]',
    caughtBy: 'refused-for-a-reason',
  },
  'A national id that is written in another way is another user.': {
    file: 'lib/extraction/keyed-mac.ts',
    find: 'bareNationalId(text) ?? text',
    replace: 'text',
    caughtBy: 'refused-not-sent-again',
  },
  'The mark is read only after the start was claimed.': {
    file: start,
    find: check,
    replace: claimThenCheck,
    caughtBy: 'refused-not-sent-again',
  },
  'Confirmed credentials are refused as any others.': {
    file: refusals,
    find: 'isConfirmed !== true && saysRefused',
    replace: 'saysRefused',
    caughtBy: 'refused-for-a-reason',
  },
  'FAILED under `confirmed` counts as an acceptance.': {
    file: refusals,
    find: "new Set(['COMPLETED', 'PARTIAL'])",
    replace: "new Set(['COMPLETED', 'PARTIAL', 'FAILED'])",
    caughtBy: 'marks-are-right',
  },
  'A replayed delivery sets the mark anew, as of now.': {
    file: refusals,
    find: 'const noticedAt = shownAt(known.noticedAt, known.afterMark);',
    replace: 'const noticedAt = shownAt(now().toISOString(), known.afterMark);',
    caughtBy: 'marks-are-right',
    firstSeed: 1800,
  },
  'A delivery that is replayed after the mark of an accepted one was erased sets its own again.': {
    file: refusals,
    find: 'await tasks.setMarked(taskId);',
    caughtBy: 'marked-once',
  },
  'What confirmed credentials show does not count after the mark that their start read, if a clock was ahead.':
    {
      file: refusals,
      find: 'afterMark === undefined || afterMark < noticedAt',
      replace: 'afterMark !== "" || afterMark < noticedAt',
      caughtBy: 'refused-for-a-reason',
      firstSeed: 600,
    },
  'A link that an earlier attempt did not make does not know which mark it comes after.': {
    file: start,
    find: 'if (!isNoticed && task?.afterMark === undefined) known = checked.known;',
    caughtBy: 'refused-for-a-reason',
    firstSeed: 63_900,
  },
  'A link that an earlier attempt did not make counts after the mark that it read, whatever was noticed before.':
    {
      file: start,
      find: '!isNoticed && task?.afterMark',
      replace: 'task?.afterMark',
      caughtBy: 'marks-are-right',
      firstSeed: 553_600,
    },
  'A link that an earlier attempt did not make has no MAC.': {
    file: start,
    find: 'known ??= await recallCredentials(current, effect.taskId, input, deps);',
    replace:
      'known ??= current.status === "RUNNING" ? {} : await recallCredentials(current, effect.taskId, input, deps);',
    caughtBy: 'refused-not-sent-again',
  },
};

/** Those that one extraction shows. */
export const refusedCredentialsFaults: Faults = {
  'A delivery marks refused credentials after it has written the outcome.': {
    file: recordDelivery,
    find: 'await markCredentialsIfKnown(task, deps);',
    replace: 'setTimeout(() => void markCredentialsIfKnown(task, deps), 0);',
    caughtBy: 'marked-before-settled',
    where: { scenario: 'wrong-password', faults: 1 },
  },
  'A read of an adopted task marks nothing, although start-task links it at that moment.': {
    file: refusals,
    find: 'task.credentialsMac === undefined && callbackToken !== undefined',
    replace: 'task.credentialsMac === undefined',
    caughtBy: 'marked-before-settled',
    where: { scenario: 'wrong-password-reconciled', faults: 1, preemptions: 1, after: '13.2' },
  },
  'Credentials are sent whatever their mark says.': {
    file: start,
    find: refuse,
    caughtBy: 'no-start-once-refused',
    where: { scenario: 'refused-before' },
  },
};
