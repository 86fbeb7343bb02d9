import type { Faults } from './planted-fault.ts';

const decide = 'lib/extraction/decide.ts';
const deadlines = 'lib/extraction/deadlines.ts';
const transitions = 'lib/extraction/transitions.ts';
const requestData = 'lib/extraction/request-data.ts';
const readTask = 'lib/extraction/reconcile/read-task.ts';
const sweep = 'lib/extraction/sweep.ts';
const request = 'lib/extraction/api/create-extraction.ts';

/** Faults of intake, collecting, closing and the sweep. */
export const intakeAndClosingFaults: Faults = {
  'Free text that the provider sends in place of a code is recorded.': {
    file: 'lib/extraction/codes.ts',
    find: '/^[A-Za-z][\\w.-]*$/.test(text)',
    replace: "text !== ''",
    caughtBy: 'nothing-sealed-shown',
    where: 'at random',
  },
  'A close is written although the status changed since the decision.': {
    file: transitions,
    find: `  status: [record.status],
  ...sameAttempt(record),
  open: true,
  ...(record.collectedAt === undefined ? { uncollected: true } : {}),
`,
    replace:
      "  status: [record.status, 'COMPLETED', 'PARTIAL', 'FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'],\n",
    caughtBy: 'open-while-unfinished',
  },
  'A close leaves the notBefore of a read that another process postponed meanwhile.': {
    file: transitions,
    find: "remove: ['dueShard', 'dueAt', 'notBefore', 'readsSlowly'] as const,",
    replace:
      "remove: ['dueShard', 'dueAt', 'readsSlowly', ...(record.notBefore === undefined ? [] : ['notBefore' as const])],",
    caughtBy: 'open-while-unfinished',
    where: { scenario: 'plain', faults: 1, preemptions: 1, events: 1, from: 24 },
  },
  'A read without results closes a record whose outcome implies results.': {
    file: decide,
    find: "if (reading.results === 'none' && (record",
    replace: "if (reading.results === 'none' && record.taskId === '' && (record",
    caughtBy: 'results-collected',
  },
  'A read stores the results before it records the outcome.': {
    file: decide,
    find: "if (isIn(context, 'collecting')) return collect(context, observed);",
    replace:
      "if (isIn(context, 'collecting') || (reading.kind === 'ended' && record.status === 'RUNNING')) return collect(context, observed);",
    caughtBy: 'outcome-before-results',
  },
  'Results count as complete with as many actions as were requested, whatever these are.': {
    file: readTask,
    find: 'hasEach(requested, actions) ?',
    replace: 'actions.length >= requested.length ?',
    caughtBy: 'lagging-awaited',
  },
  'The error codes of a FAILED task are not awaited.': {
    file: decide,
    find: "status === 'PARTIAL' || (status === 'FAILED' && method === 'credentials');",
    replace: "status === 'PARTIAL' || (status === 'FAILED' && method === 'consent');",
    caughtBy: 'lagging-awaited',
  },
  'Results that stay incomplete are never stored.': {
    file: decide,
    find: "const stored: Plan = reading.results === 'none'",
    replace: `const stored: Plan = lacksResults(record, reading)
    ? abandon(context, readAs('results-incomplete'))
    : reading.results === 'none'`,
    caughtBy: 'results-collected',
  },
  'Collecting that always fails is never abandoned.': {
    file: decide,
    find: "if (undecided.unread !== 'not-now' && endsNow(context, undecided))\n    return counting('CollectionFailed', abandon(context, undecided));",
    caughtBy: 'settled-and-closed',
  },
  'An answer over the size limit is not recorded, so that every poll downloads it again.': {
    file: decide,
    find: '? toWrite(transitions.rememberOversized(context), [], follows)',
    replace: "? pollLater(context, { explanation: 'results-too-large', problem: 'results-too-large' })",
    caughtBy: 'oversized-once',
  },
  'Past the deadline, results over the size limit end as TIMED_OUT without a collectionError.': {
    file: transitions,
    find: '{ ...timedOutAt(decision.now), ...tooLarge(decision), lastProblem };',
    replace: '{ ...timedOutAt(decision.now), lastProblem };',
    caughtBy: 'oversized-once',
  },
  'A 200 over the size limit does not end an extraction by consent.': {
    file: readTask,
    find: "return without({ kind: 'too-large', taskStatus: 'COMPLETED' });",
    replace: "return without({ kind: 'too-large', taskStatus: undefined });",
    caughtBy: 'correction-found',
  },
  'Two sweeps can lease the same record.': {
    file: transitions,
    find: 'when: { open: true, dueAt: found.dueAt },',
    replace: 'when: { open: true },',
    caughtBy: 'leased-before-sent',
    where: { scenario: 'ends-process', faults: 1 },
  },
  'A sweep sends a record that another sweep has leased.': {
    file: sweep,
    find: "if (kind !== 'written') return undefined;",
    replace: "if (kind !== 'written' && record === undefined) return undefined;",
    caughtBy: 'leased-before-sent',
    where: { scenario: 'broken-deploy-for-long', faults: 1 },
  },
  'A message whose dueAt has moved reads the provider.': {
    file: decide,
    find: 'if (new Date(dueAt).getTime() <= now.getTime()) return undefined;',
    replace: "if (dueAt !== '') return undefined;",
    caughtBy: 'one-chain-of-messages',
  },
  'A message of the sweep does not have the dueAt of its lease.': {
    file: sweep,
    find: "cause: 'sweep', dueAt: until }",
    replace: "cause: 'sweep' }",
    caughtBy: 'one-chain-of-messages',
  },
  'A message that is received by a clock a little behind is dropped, so that its record waits for the sweep.':
    {
      file: decide,
      find: "return isDue ? end('deferred', 'early', 'due') : undefined;",
      replace: "return isDue ? end('superseded') : undefined;",
      caughtBy: 'due-message-continued',
    },
  'A process that lost the race for dueAt sends the next message too, so that a repeated message doubles the reads.':
    {
      file: 'lib/extraction/run.ts',
      find: "message: 'none' as const }",
      replace: "message: 'due' as const }",
      caughtBy: 'one-chain-of-messages',
      where: { scenario: 'after-grace', preemptions: 1 },
    },
  'TIMED_OUT is closed at the next reconcile, without grace.': {
    file: deadlines,
    find: "plusSeconds(record.settledAt, record.phase === 'grace' ? grace : collectFor);",
    replace: "record.phase === 'grace' ? record.deadlineAt : plusSeconds(record.settledAt, collectFor);",
    caughtBy: 'correction-found',
    where: { scenario: 'late-silent', faults: 1 },
  },
  "TIMED_OUT is closed at the end of grace although an operator's pause holds the last read.": {
    file: decide,
    find: "(context.record.phase === 'running' || unread !== 'not-now')",
    replace: 'unread !== undefined',
    caughtBy: 'pause-keeps-open',
  },
  'The execution is started before the record is written.': {
    file: request,
    find: 'const creation = await deps.extractions.create(candidate);',
    replace:
      'await deps.startExecution({ extractionId, requestId });\n  const creation = await deps.extractions.create(candidate);',
    caughtBy: 'request-kept',
  },
  'A repeated request does not start the execution that the first one failed to start.': {
    file: request,
    find: "if (record.status === 'REQUESTED' && !isWindowOver(record, now, deps.timings)) {",
    replace:
      "if (creation.created && record.status === 'REQUESTED' && !isWindowOver(record, now, deps.timings)) {",
    caughtBy: 'request-kept',
  },
  'The caller’s session token is recorded with the request.': {
    file: request,
    find: 'fingerprint: input.fingerprint,\n    ...due.attributes',
    replace:
      'fingerprint: input.fingerprint,\n    reference: JSON.stringify(requestDataToSeal(input.request)),\n    ...due.attributes',
    caughtBy: 'nothing-sealed-shown',
  },
  'Intake removes the item of a request whose record it may have created.': {
    file: request,
    find: 'const creation = await deps.extractions.create(candidate);',
    replace: `const creation = await deps.extractions.create(candidate).catch(async (error: unknown) => {
    await forgetRequest('another-request', candidate, deps);
    throw error;
  });`,
    caughtBy: 'request-item-kept',
  },
  'Reconcile closes a record by consent, and leaves the item of its request.': {
    file: requestData,
    find: '  consent: done.consent,',
    replace: '  consent: never,',
    caughtBy: 'request-item-forgotten',
  },
  'The end of grace removes the item of a consent although a read that is under way may still correct its outcome.':
    {
      file: requestData,
      find: "dueShard === undefined && status !== 'TIMED_OUT'",
      replace: 'dueShard === undefined',
      caughtBy: 'request-item-kept',
      where: { scenario: 'consent-last-read', faults: 1, preemptions: 1, from: 114 },
    },
  'A consent whose item was lost is closed as one that could be read.': {
    file: decide,
    find: "return undecided.unread === 'impossible'\n",
    replace: "return undecided.unread === 'impossible' && problem !== 'request-data-gone'\n",
    caughtBy: 'request-gone-for-a-reason',
  },
  'A read that finds no item, because another process has just closed the record and removed it, counts it as lost.':
    {
      file: 'lib/extraction/run.ts',
      find: 'for (const metric of planned.counts)',
      replace:
        "for (const metric of planned.kind === 'write' ? [...planned.counts, ...planned.metricsOnWrite.filter((one) => one === 'RequestDataGone')] : planned.counts)",
      caughtBy: 'request-gone-for-a-reason',
      where: { scenario: 'consent-v1', preemptions: 2, from: 38 },
    },
  'The last read is made again by a process that starts long after the first one.': {
    file: decide,
    find: 'plusSeconds(lastReadBegunAt, timings.reconcileTimeout);',
    replace: 'plusSeconds(lastReadBegunAt, 5 * timings.reconcileTimeout);',
    caughtBy: 'last-read-once',
  },
  'A record whose reads end their process is closed without asking whether an operator paused reads.': {
    file: readTask,
    find: `  if (await deps.isPaused('reads')) {`,
    replace: `  if (planned.kind === 'no-read') return impossible('InternalError');
  if (await deps.isPaused('reads')) {`,
    caughtBy: 'pause-keeps-open',
    where: { scenario: 'ends-process-paused', preemptions: 0 },
  },
  'A record that nobody reconciled until collectFor was over is closed without a read.': {
    file: decide,
    find: "  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context)",
    replace: `  if (isIn(context, 'collecting') && isTimeOver(context)) return abandon(context, readAs('still-running'));
  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context)`,
    caughtBy: 'closed-after-a-read',
  },
  'A record of a newer version is reconciled as one of this version.': {
    file: 'lib/extraction/record.ts',
    find: 'schemaVersion === 1 && allStatuses.has(status)',
    replace: 'allStatuses.has(status)',
    caughtBy: 'newer-left-alone',
  },
  'A record of a newer version is closed.': {
    file: decide,
    find: "return counting(\n      'UnknownRecord',\n      toDefer(record, due.newerVersion(now), { explanation: 'unknown-record' }),\n    );",
    replace: `return toWrite({
      extractionId: record.extractionId,
      when: { open: true },
      set: { expiresAt: 1 },
      remove: ['dueShard', 'dueAt'],
      readRefusal: () => 'lost',
    });`,
    caughtBy: 'newer-left-alone',
  },
};
