import type { DeliberateFault } from './deliberate-fault.ts';

const transitions = 'lib/extraction/transitions.ts';
const reconcile = 'lib/extraction/reconcile.ts';
const request = 'lib/extraction/api/request-extraction.ts';

/** Mistakes around intake, collecting, closing and the sweep. */
export const keepingFaults: readonly DeliberateFault[] = [
  {
    name: 'sentence-taken-for-a-code',
    does: 'What the provider writes in place of a code is recorded as it is.',
    file: 'lib/extraction/looks-like-code.ts',
    find: '/^[A-Za-z][\\w.-]*$/.test(text)',
    replace: "text !== ''",
    caughtBy: 'nothing-sealed-shown',
  },
  {
    name: 'close-without-its-guard',
    does: 'A close is written although somebody moved the status since it was decided on.',
    file: transitions,
    find: 'const unchangedSince = (record: Extraction): Guard => ({ status: [record.status], uncollected: true });',
    replace:
      'const unchangedSince = (record: Extraction): Guard => ({ status: [record.status, ...terminalStatuses] });',
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'collected-without-data',
    does: 'A read that names no results closes a record whose outcome promises them.',
    file: reconcile,
    find: 'if (results === undefined && impliesResults(record)) {',
    replace: "if (results === undefined && impliesResults(record) && taskId === '') {",
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-abandoned-at-once',
    does: 'The first collection that fails is the last.',
    file: reconcile,
    find: 'if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {',
    replace: 'if (now.toISOString() >= settledAt) {',
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-never-abandoned',
    does: 'A collection that always fails goes on for good.',
    file: reconcile,
    find: 'if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {',
    replace: "if (now.toISOString() === '') {",
    caughtBy: 'settled-and-closed',
  },
  {
    name: 'oversized-not-remembered',
    does: 'A body over the cap is not remembered, so that every poll downloads it.',
    file: reconcile,
    find: 'const remembered = await applyChange(deps.extractions, rememberOversized(record, now));',
    replace: "const remembered = { kind: 'done', record } as Awaited<ReturnType<typeof applyChange>>;",
    caughtBy: 'oversized-once',
  },
  {
    name: 'oversized-without-a-word',
    does: 'Past the deadline, results over the cap end as TIMED_OUT and nothing says why.',
    file: transitions,
    find: '{ ...timedOutAt(now), ...tooLarge(record, now) },',
    replace: 'timedOutAt(now),',
    caughtBy: 'oversized-once',
  },
  {
    name: 'oversized-consent-is-no-end',
    does: 'A consent’s 200 over the cap is no end.',
    file: 'lib/extraction/reading.ts',
    find: "return { kind: 'too-large', taskStatus: 'COMPLETED' };",
    replace: "return { kind: 'too-large' };",
    caughtBy: 'correction-found',
  },
  {
    name: 'shapeless-200-is-no-end',
    does: 'A consent’s 200 without data is no end.',
    file: 'lib/provider/extractions/read-extraction.ts',
    find: "if (variant === 'v2') return",
    replace:
      "if (variant === 'v2' && data === undefined) return { kind: 'in-progress' };\n    if (variant === 'v2') return",
    caughtBy: 'correction-found',
  },
  {
    name: 'byte-order-mark-is-unreadable',
    does: 'An answer that begins with a byte order mark is none.',
    file: 'lib/provider/transport/parse-answer.ts',
    find: "text.startsWith('\\uFEFF') ? text.slice(1) : text",
    replace: 'text',
    caughtBy: 'correction-found',
  },
  {
    name: 'claim-does-not-move',
    does: 'A sweep claims a record without moving its dueAt.',
    file: 'lib/extraction/sweep.ts',
    find: 'reschedule(record, plusSeconds(time, claimSeconds))',
    replace: 'reschedule(record, record.dueAt)',
    caughtBy: 'claimed-before-reconciled',
  },
  {
    name: 'claim-without-a-condition',
    does: 'Two sweeps may claim the same record.',
    file: transitions,
    find: '...(record.dueAt === undefined ? {} : { dueAt: record.dueAt }),',
    replace: '',
    caughtBy: 'claimed-before-reconciled',
  },
  {
    name: 'lost-claim-taken-for-won',
    does: 'A sweep goes on with a record that another one has claimed.',
    file: 'lib/extraction/sweep.ts',
    find: 'claimed: claimed.applied,',
    replace: 'claimed: true,',
    caughtBy: 'claimed-before-reconciled',
  },
  {
    name: 'request-not-indexed',
    does: 'A new record is not in the index, so that no sweep ever finds it.',
    file: request,
    find: '...dueAtWindowEnd(input.extractionId, requestedAt, timings),',
    replace: '',
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'timed-out-closed-at-once',
    does: 'TIMED_OUT is closed as soon as it is looked at, without grace.',
    file: reconcile,
    find: 'if (now.toISOString() >= graceOver) return close(closeAfterGrace(record, now, deps.timings), deps);',
    replace:
      'if (now.toISOString() >= settledAt) return close(closeAfterGrace(record, now, deps.timings), deps);',
    caughtBy: 'correction-found',
  },
  {
    name: 'execution-before-record',
    does: 'The execution is started before the record is written.',
    file: request,
    find: 'const creation = await deps.extractions.create(mine);',
    replace:
      'await deps.startExecution({ extractionId: input.extractionId, request: methodOf(input.request), sealed });\n  const creation = await deps.extractions.create(mine);',
    caughtBy: 'request-kept',
  },
  {
    name: 'replay-does-not-go-on',
    does: 'A repeated request does not start the execution that the first one could not.',
    file: request,
    find: "if (record.status === 'REQUESTED' && now.toISOString() < windowEnd) {",
    replace: "if (creation.created && record.status === 'REQUESTED' && now.toISOString() < windowEnd) {",
    caughtBy: 'request-kept',
  },
  {
    name: 'fingerprint-ignored',
    does: 'Another request under the same key is taken for a repetition.',
    file: request,
    find: "if (record.fingerprint !== input.fingerprint) return { kind: 'key-reused' };",
    replace: '',
    caughtBy: 'request-kept',
  },
  {
    name: 'secret-in-the-record',
    does: 'The session token that a caller brought is recorded with the request.',
    file: request,
    find: 'fingerprint: input.fingerprint,\n    ...dueAtWindowEnd',
    replace:
      'fingerprint: input.fingerprint,\n    reference: JSON.stringify(requestDataToSeal(input.request)),\n    ...dueAtWindowEnd',
    caughtBy: 'nothing-sealed-shown',
  },
];
