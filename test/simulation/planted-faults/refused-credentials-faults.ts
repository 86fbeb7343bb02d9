import type { Faults } from './planted-fault.ts';

const refusals = 'lib/extraction/refused-credentials.ts';
const recordDelivery = 'lib/extraction/record-delivery.ts';
const start = 'lib/extraction/start/start.ts';

const check =
  "if (await refusedBefore(call, deps)) return await finishWith(record, { kind: 'refused-before' });";
/** Claims the start, and then reads the mark. */
const claimThenCheck = `const early = markStarting({ record, attemptId: deps.newAttemptId(), now: now(), timings });
    const first = await startWriter(consentItem, deps)(early, [], record);
    if (await refusedBefore(call, deps)) return await endWith(first.record, { kind: 'refused-before' });`;

/** Faults of credentials that the bank refused, which are searched in extractions of one login. */
export const loginFaults: Faults = {
  'mac-without-entity': {
    does: 'The MAC of credentials leaves out the entity.',
    file: refusals,
    find: "'refusal', [requestedBy, entity, login]",
    replace: "'refusal', [requestedBy, login, entity === '' ? '' : undefined]",
    caughtBy: 'refused-for-a-reason',
  },
  'mac-without-caller': {
    does: 'The MAC of credentials leaves out the caller.',
    file: refusals,
    find: "'refusal', [requestedBy, entity, login]",
    replace: "'refusal', [entity, login, requestedBy === '' ? '' : undefined]",
    caughtBy: 'refused-for-a-reason',
  },
  'mac-of-the-user-alone': {
    does: 'The MAC of credentials leaves out the password.',
    file: refusals,
    find: '[userOf(value), value.password]',
    replace: '[userOf(value)]',
    caughtBy: 'refused-for-a-reason',
  },
  'mac-of-each-spelling': {
    does: 'A national id that is written in another way is another user.',
    file: refusals,
    find: 'bareNationalId(text) ?? text',
    replace: 'text',
    caughtBy: 'refused-not-sent-again',
  },
  'mac-of-every-field': {
    does: 'Another one-time code makes a refused password another one.',
    file: refusals,
    find: '[userOf(value), value.password]',
    replace: '[userOf(value), value]',
    caughtBy: 'refused-not-sent-again',
  },
  'marked-not-by-a-read': {
    does: 'A read that finds refused credentials marks nothing.',
    file: 'lib/extraction/reconcile/reconcile.ts',
    find: 'if (task !== undefined && ended !== undefined) await markCredentials',
    replace: 'if (task !== undefined && ended === undefined) await markCredentials',
    caughtBy: 'refused-not-sent-again',
  },
  'checked-after-starting': {
    does: 'The mark is read only after the start was claimed.',
    file: start,
    find: check,
    replace: claimThenCheck,
    caughtBy: 'refused-not-sent-again',
  },
  'confirmed-is-not-sent': {
    does: 'Confirmed credentials are refused as any others.',
    file: refusals,
    find: '  isConfirmed !== true &&\n',
    caughtBy: 'refused-for-a-reason',
  },
  'failed-shows-a-password': {
    does: 'FAILED under `confirmed` counts as an acceptance.',
    file: refusals,
    find: "new Set(['COMPLETED', 'PARTIAL'])",
    replace: "new Set(['COMPLETED', 'PARTIAL', 'FAILED'])",
    caughtBy: 'marks-are-right',
  },
  'accepted-not-marked': {
    does: 'COMPLETED under `confirmed` leaves the mark.',
    file: refusals,
    find: 'isConfirmed === true && accepting.has(taskStatus) ?',
    replace: 'isConfirmed === true && taskStatus === undefined ?',
    caughtBy: 'refused-for-a-reason',
  },
  'replay-revives': {
    does: 'A replayed delivery sets the mark anew, as of now.',
    file: refusals,
    find: 'const noticedAt = task.noticedAt ?? (await tasks.notice(taskId, notifiedAt ?? now().toISOString()));',
    replace:
      'const noticedAt: string | undefined = notifiedAt === "" ? await tasks.notice(taskId, "") : now().toISOString();',
    caughtBy: 'marked-once',
  },
  'erasure-revives': {
    does: 'A delivery that is replayed after the mark of an accepted one was erased sets its own again.',
    file: refusals,
    find: 'task.isMarked === true ? undefined : proofIn(taskStatus, task)',
    replace: 'proofIn(taskStatus, task)',
    caughtBy: 'marked-once',
  },
  'mark-without-end': {
    does: 'A mark counts until DynamoDB removes it.',
    file: refusals,
    find: 'mark?.isRefused === true && now.getTime() < mark.expiresAt * 1000',
    replace: 'mark?.isRefused === true && now.getTime() > 0',
    caughtBy: 'refused-for-a-reason',
  },
  'locked-is-refused': {
    does: 'A locked account marks its credentials as refused.',
    file: refusals,
    find: "if (taskStatus === 'CREDENTIALS_WRONG') return",
    replace: "if (taskStatus.startsWith('CREDENTIALS_')) return",
    caughtBy: 'marks-are-right',
  },
  'mac-lost-with-the-link': {
    does: 'A link that an earlier attempt did not make has no MAC.',
    file: start,
    find: 'known ??= await recallCredentials(current, input, deps);',
    replace: 'known ??= current.status === "RUNNING" ? {} : await recallCredentials(current, input, deps);',
    caughtBy: 'refused-not-sent-again',
  },
};

/** Those that one extraction shows. */
export const refusedCredentialsFaults: Faults = {
  'marked-after-settled': {
    does: 'A delivery marks refused credentials after it has written the outcome.',
    file: recordDelivery,
    find: 'await markCredentials(task, taskStatus, deps);',
    replace: 'setTimeout(() => void markCredentials(task, taskStatus, deps), 0);',
    caughtBy: 'marked-before-settled',
    where: { scenario: 'wrong-password', faults: 1 },
  },
  'refused-is-sent': {
    does: 'The mark is not read at all.',
    file: start,
    find: check,
    caughtBy: 'no-start-once-refused',
    where: { scenario: 'refused-before' },
  },
};
