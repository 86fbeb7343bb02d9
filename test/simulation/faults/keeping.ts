import type { InjectedFault } from './injected-fault.ts';

const transitions = 'lib/extraction/transitions.ts';
const reconcile = 'lib/extraction/reconcile.ts';
const sweep = 'lib/extraction/sweep.ts';
const request = 'lib/extraction/api/request-extraction.ts';

/** Faults of intake, collecting, closing and the sweep. */
export const keepingFaults: readonly InjectedFault[] = [
  {
    name: 'sentence-recorded-as-code',
    does: 'Free text that the provider sends in place of a code is recorded.',
    file: 'lib/extraction/looks-like-code.ts',
    find: '/^[A-Za-z][\\w.-]*$/.test(text)',
    replace: "text !== ''",
    caughtBy: 'nothing-sealed-shown',
    where: 'at random',
  },
  {
    name: 'close-without-condition',
    does: 'A close is written although the status changed since the decision.',
    file: transitions,
    find: 'const unchangedSince = (record: Extraction): Guard => ({ status: [record.status], uncollected: true });',
    replace:
      'const unchangedSince = (record: Extraction): Guard => ({ status: [record.status, ...terminalStatuses] });',
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'closed-with-not-before',
    does: 'A close leaves the notBefore of a read that another process postponed meanwhile.',
    file: transitions,
    find: "remove: ['dueShard', 'dueAt', 'notBefore'],",
    replace:
      "remove: ['dueShard', 'dueAt', ...(record.notBefore === undefined ? [] : ['notBefore' as const])],",
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'collected-without-results',
    does: 'A read without results closes a record whose outcome implies results.',
    file: reconcile,
    find: 'if (results === undefined && impliesResults(record)) {',
    replace: "if (results === undefined && impliesResults(record) && taskId === '') {",
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-abandoned-at-once',
    does: 'Collecting is abandoned after the first failure.',
    file: reconcile,
    find: 'if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {',
    replace: 'if (now.toISOString() >= settledAt) {',
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-never-abandoned',
    does: 'Collecting that always fails is never abandoned.',
    file: reconcile,
    find: 'if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {',
    replace: "if (now.toISOString() === '') {",
    caughtBy: 'settled-and-closed',
  },
  {
    name: 'oversized-not-remembered',
    does: 'An answer over the size limit is not recorded, so that every poll downloads it again.',
    file: reconcile,
    find: 'const remembered = await applyChange(deps.extractions, rememberOversized(record, now));',
    replace: "const remembered = { kind: 'done', record } as Awaited<ReturnType<typeof applyChange>>;",
    caughtBy: 'oversized-once',
  },
  {
    name: 'oversized-without-reason',
    does: 'Past the deadline, results over the size limit end as TIMED_OUT without a collectionError.',
    file: transitions,
    find: '{ ...timedOutAt(now), ...tooLarge(record, now) },',
    replace: 'timedOutAt(now),',
    caughtBy: 'oversized-once',
  },
  {
    name: 'oversized-consent-not-final',
    does: 'A 200 over the size limit does not end an extraction by consent.',
    file: 'lib/extraction/reading.ts',
    find: "return { kind: 'too-large', taskStatus: 'COMPLETED' };",
    replace: "return { kind: 'too-large' };",
    caughtBy: 'correction-found',
  },
  {
    name: 'consent-without-data-not-final',
    does: 'A 200 without data does not end an extraction by consent.',
    file: 'lib/provider/extractions/read-extraction.ts',
    find: "if (variant === 'v2') return",
    replace:
      "if (variant === 'v2' && data === undefined) return { kind: 'in-progress' };\n    if (variant === 'v2') return",
    caughtBy: 'correction-found',
  },
  {
    name: 'byte-order-mark-is-unreadable',
    does: 'An answer that starts with a byte order mark cannot be read.',
    file: 'lib/provider/transport/parse-answer.ts',
    find: "text.startsWith('\\uFEFF') ? text.slice(1) : text",
    replace: 'text',
    caughtBy: 'correction-found',
  },
  {
    name: 'claim-keeps-due-at',
    does: 'A sweep claims a record without changing its dueAt.',
    file: sweep,
    find: 'claimDue(found, plusSeconds(time, claimSeconds))',
    replace: 'claimDue(found, dueAt)',
    caughtBy: 'claimed-before-sent',
  },
  {
    name: 'claim-without-condition',
    does: 'Two sweeps can claim the same record.',
    file: transitions,
    find: 'when: { open: true, dueAt: found.dueAt },',
    replace: 'when: { open: true },',
    caughtBy: 'claimed-before-sent',
  },
  {
    name: 'lost-claim-ignored',
    does: 'A sweep sends a record that another sweep has claimed.',
    file: sweep,
    find: 'return applied;',
    replace: 'return applied || dueAt !== undefined;',
    caughtBy: 'claimed-before-sent',
    where: { scenario: 'broken-deploy-for-long', faults: 1 },
  },
  {
    name: 'superseded-message-reads',
    does: 'A message whose dueAt has moved reads the provider.',
    file: reconcile,
    find: 'new Date(dueAt).getTime() > now.getTime() + clockTolerance;',
    replace: "dueAt === '';",
    caughtBy: 'one-chain-of-messages',
  },
  {
    name: 'lost-race-sends-next',
    does: 'A process that lost the race for dueAt sends the next message too, so that a repeated message doubles the reads.',
    file: reconcile,
    find: 'const next = applied ? dueAt : undefined;',
    replace: "const next = applied || dueAt !== '' ? dueAt : undefined;",
    caughtBy: 'one-chain-of-messages',
  },
  {
    name: 'request-not-indexed',
    does: 'A new record is not in the index, so that no sweep finds it.',
    file: request,
    find: '...dueAtWindowEnd(input.extractionId, requestedAt, timings),',
    replace: '',
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'closed-without-grace',
    does: 'TIMED_OUT is closed at the next reconcile, without grace.',
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
    name: 'replay-does-not-start',
    does: 'A repeated request does not start the execution that the first one failed to start.',
    file: request,
    find: "if (record.status === 'REQUESTED' && now.toISOString() < windowEnd) {",
    replace: "if (creation.created && record.status === 'REQUESTED' && now.toISOString() < windowEnd) {",
    caughtBy: 'request-kept',
  },
  {
    name: 'fingerprint-ignored',
    does: 'Another request under the same key counts as a repetition.',
    file: request,
    find: "if (record.fingerprint !== input.fingerprint) return { kind: 'key-reused' };",
    replace: '',
    caughtBy: 'request-kept',
  },
  {
    name: 'secret-in-record',
    does: 'The caller’s session token is recorded with the request.',
    file: request,
    find: 'fingerprint: input.fingerprint,\n    ...dueAtWindowEnd',
    replace:
      'fingerprint: input.fingerprint,\n    reference: JSON.stringify(requestDataToSeal(input.request)),\n    ...dueAtWindowEnd',
    caughtBy: 'nothing-sealed-shown',
  },
];
