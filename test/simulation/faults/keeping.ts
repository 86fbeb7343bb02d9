import type { PlantedFault } from './planted-fault.ts';

const transitions = 'lib/extraction/transitions.ts';
const reconcile = 'lib/extraction/reconcile/reconcile.ts';
const findOutcome = 'lib/extraction/reconcile/find-outcome.ts';
const collect = 'lib/extraction/reconcile/collect.ts';
const steps = 'lib/extraction/reconcile/steps.ts';
const readProvider = 'lib/extraction/reconcile/read-provider.ts';
const sweep = 'lib/extraction/sweep.ts';
const request = 'lib/extraction/api/request-extraction.ts';

/** Faults of intake, collecting, closing and the sweep. */
export const keepingFaults: readonly PlantedFault[] = [
  {
    name: 'sentence-recorded-as-code',
    does: 'Free text that the provider sends in place of a code is recorded.',
    file: 'lib/extraction/provider-codes.ts',
    find: '/^[A-Za-z][\\w.-]*$/.test(text)',
    replace: "text !== ''",
    caughtBy: 'nothing-sealed-shown',
    where: 'at random',
  },
  {
    name: 'close-without-condition',
    does: 'A close is written although the status changed since the decision.',
    file: transitions,
    find: '  status: [record.status],\n  ...sameAttempt(record),\n  open: true,\n  uncollected: true,\n',
    replace: '  status: [record.status, ...terminalStatuses],\n',
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
    where: { scenario: 'after-grace', faults: 1 },
  },
  {
    name: 'collected-without-results',
    does: 'A read without results closes a record whose outcome implies results.',
    file: collect,
    find: 'if (results === undefined && impliesResults(record)) {',
    replace: "if (results === undefined && impliesResults(record) && taskId === '') {",
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-abandoned-at-once',
    does: 'Collecting is abandoned after the first failure.',
    file: collect,
    find: 'const isLast = deps.now().toISOString() >= collectUntil(record, deps);',
    replace: 'const isLast = true;',
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-never-abandoned',
    does: 'Collecting that always fails is never abandoned.',
    file: collect,
    find: 'const isLast = deps.now().toISOString() >= collectUntil(record, deps);',
    replace: 'const isLast = false;',
    caughtBy: 'settled-and-closed',
  },
  {
    name: 'oversized-not-remembered',
    does: 'An answer over the size limit is not recorded, so that every poll downloads it again.',
    file: findOutcome,
    find: 'const remembered = await writeChange(deps.extractions, rememberOversized({ record, now }));',
    replace: "const remembered = { kind: 'written', record } as Awaited<ReturnType<typeof writeChange>>;",
    caughtBy: 'oversized-once',
  },
  {
    name: 'oversized-without-reason',
    does: 'Past the deadline, results over the size limit end as TIMED_OUT without a collectionError.',
    file: transitions,
    find: '{ ...timedOutAt(decision.now), ...tooLarge(decision) };',
    replace: 'timedOutAt(decision.now);',
    caughtBy: 'oversized-once',
  },
  {
    name: 'oversized-consent-not-final',
    does: 'A 200 over the size limit does not end an extraction by consent.',
    file: 'lib/extraction/reconcile/reading.ts',
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
    file: 'lib/extraction/reconcile/parse-large-json.ts',
    find: 'startsWithByteOrderMark(view) ? 3 : 0',
    replace: '0',
    caughtBy: 'correction-found',
  },
  {
    name: 'lease-keeps-due-at',
    does: 'A sweep leases a record without changing its dueAt.',
    file: sweep,
    find: 'leaseDue({ found, dueAt: plusSeconds(time, leaseSeconds) })',
    replace: 'leaseDue({ found, dueAt })',
    caughtBy: 'leased-before-sent',
  },
  {
    name: 'lease-without-condition',
    does: 'Two sweeps can lease the same record.',
    file: transitions,
    find: 'when: { open: true, dueAt: found.dueAt },',
    replace: 'when: { open: true },',
    caughtBy: 'leased-before-sent',
    where: { scenario: 'ends-process', faults: 1 },
  },
  {
    name: 'lost-lease-ignored',
    does: 'A sweep sends a record that another sweep has leased.',
    file: sweep,
    find: "return kind === 'written';",
    replace: "return kind === 'written' || dueAt !== undefined;",
    caughtBy: 'leased-before-sent',
    where: { scenario: 'broken-deploy-for-long', faults: 1 },
  },
  {
    name: 'superseded-message-reads',
    does: 'A message whose dueAt has moved reads the provider.',
    file: reconcile,
    find: 'if (new Date(dueAt).getTime() <= now.getTime()) return undefined;',
    replace: "if (dueAt !== '') return undefined;",
    caughtBy: 'one-chain-of-messages',
  },
  {
    name: 'superseded-message-sent-again',
    does: 'A message whose dueAt has moved is sent again for the new one, beside the message of the process that moved it.',
    file: reconcile,
    find: 'return caller.dueAt === dueAt\n',
    replace: "return dueAt !== ''\n",
    caughtBy: 'one-chain-of-messages',
  },
  {
    name: 'early-message-dropped',
    does: 'A message that is received by a clock a little behind is dropped, so that its record waits for the sweep.',
    file: reconcile,
    find: 'return caller.dueAt === dueAt\n',
    replace: "return dueAt === ''\n",
    caughtBy: 'due-message-continued',
  },
  {
    name: 'lost-race-sends-next',
    does: 'A process that lost the race for dueAt sends the next message too, so that a repeated message doubles the reads.',
    file: steps,
    find: "const next = outcome.kind === 'written' ? dueAt : undefined;",
    replace: 'const next = dueAt;',
    caughtBy: 'one-chain-of-messages',
    where: { scenario: 'after-grace', preemptions: 1 },
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
    file: findOutcome,
    find: 'const isLast = deps.now().toISOString() >= plusSeconds(settledAt, deps.timings.grace);',
    replace: 'const isLast = true;',
    caughtBy: 'correction-found',
    where: { scenario: 'late-silent', faults: 1 },
  },
  {
    name: 'pause-ends-in-a-close',
    does: "TIMED_OUT is closed at the end of grace although an operator's pause holds the last read.",
    file: findOutcome,
    find: 'if (isLast && found.isHeld !== true) return close(closeAfterGrace(decisionOn(record, deps)), deps);',
    replace: 'if (isLast) return close(closeAfterGrace(decisionOn(record, deps)), deps);',
    caughtBy: 'correction-found',
  },
  {
    name: 'execution-before-record',
    does: 'The execution is started before the record is written.',
    file: request,
    find: 'const creation = await deps.extractions.create(ofThisRequest);',
    replace:
      'await deps.startExecution({ extractionId, requestId });\n  const creation = await deps.extractions.create(ofThisRequest);',
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
  {
    name: 'request-removed-for-another',
    does: 'A repeated request removes the item of the request that it repeats.',
    file: request,
    find: 'if (!isOfThisRequest) await removeRequest(ofThisRequest, deps);',
    replace: 'if (!isOfThisRequest) await removeRequest(record, deps);',
    caughtBy: 'request-item-kept',
  },
  {
    name: 'request-removed-after-an-exception',
    does: 'Intake removes the item of a request whose record it may have created.',
    file: request,
    find: 'const creation = await deps.extractions.create(ofThisRequest);',
    replace: `const creation = await deps.extractions.create(ofThisRequest).catch(async (error: unknown) => {
    await removeRequest(ofThisRequest, deps);
    throw error;
  });`,
    caughtBy: 'request-item-kept',
  },
  {
    name: 'lost-race-keeps-its-item',
    does: 'A repeated request keeps a second copy of what is sealed.',
    file: request,
    find: 'if (!isOfThisRequest) await removeRequest(ofThisRequest, deps);',
    replace: '',
    caughtBy: 'request-item-forgotten',
  },
  {
    name: 'target-kept-after-the-close',
    does: 'Reconcile closes a record by consent, and leaves the item of its request.',
    file: reconcile,
    find: "if (result.kind === 'closed' && goesWithClose(result.record)) await removeRequest(result.record, deps);",
    replace: '',
    caughtBy: 'request-item-forgotten',
  },
  {
    name: 'target-removed-before-the-close',
    does: 'Reconcile removes the item of a consent although the next poll needs it.',
    file: reconcile,
    find: "if (result.kind === 'closed' && goesWithClose(result.record)) await",
    replace:
      "if ('record' in result && (goesWithClose(result.record) || result.record.method === 'consent')) await",
    caughtBy: 'request-item-kept',
  },
  {
    name: 'target-removed-after-grace',
    does: 'The end of grace removes the item of a consent although a read that is under way may still correct its outcome.',
    file: 'lib/extraction/request-data.ts',
    find: "dueShard === undefined && status !== 'TIMED_OUT'",
    replace: 'dueShard === undefined',
    caughtBy: 'request-item-kept',
    where: { scenario: 'consent-last-read', faults: 1, preemptions: 1, from: 106 },
  },
  {
    name: 'lost-request-without-a-reason',
    does: 'An extraction whose request was lost ends as one that had no time to start.',
    file: reconcile,
    find: 'const reason = hasRequest ? orElse : requestDataGone;',
    replace: 'const reason = hasRequest || orElse !== requestDataGone ? orElse : requestDataGone;',
    caughtBy: 'request-gone-for-a-reason',
  },
  {
    name: 'lost-target-without-a-reason',
    does: 'A consent whose item was lost is closed as one that could be read.',
    file: readProvider,
    find: 'why: requestDataGone, isUnreadable: true',
    replace: 'why: requestDataGone',
    caughtBy: 'request-gone-for-a-reason',
  },
  {
    name: 'unfinished-reads-not-counted',
    does: 'A read that follows a process death is not counted.',
    file: readProvider,
    find: 'if (counts) await tryToApply(beginRead({ record, count: count + 1, now: deps.now() }), deps);',
    replace: '',
    caughtBy: 'unfinished-reads-counted',
  },
  {
    name: 'unfinished-reads-not-limited',
    does: 'A read that ended three processes is made again.',
    file: 'lib/extraction/record.ts',
    find: 'export const mostUnfinishedReads = 3;',
    replace: 'export const mostUnfinishedReads = 1_000;',
    caughtBy: 'unfinished-reads-counted',
  },
  {
    name: 'failed-read-unfinished',
    does: 'A read that fails without ending its process counts as one that ended it.',
    file: readProvider,
    find: `      return await read(record, taskId, attempt);
    } finally {
      if (counts || count > 0) await end(record, deps);
    }`,
    replace: `      const reading = await read(record, taskId, attempt);
      if (counts || count > 0) await end(record, deps);
      return reading;
    } finally {
    }`,
    caughtBy: 'unfinished-reads-counted',
    where: 'at random',
  },
  {
    name: 'unfinished-reads-counted-twice',
    does: 'A counted read counts as three.',
    file: readProvider,
    find: 'beginRead({ record, count: count + 1, now: deps.now() })',
    replace: 'beginRead({ record, count: count + 3, now: deps.now() })',
    caughtBy: 'unfinished-reads-counted',
    where: { scenario: 'ends-process', preemptions: 1 },
  },
  {
    name: 'late-record-closed-unread',
    does: 'A record that nobody reconciled until collectFor was over is closed without a read.',
    file: collect,
    find: 'if (record.oversizedAt !== undefined) return abandonTooLarge(record, deps);',
    replace: `if (deps.now().toISOString() >= plusSeconds(record.settledAt ?? '', deps.timings.collectFor)) {
    return abandonCollection(record, 'still-running', deps);
  }`,
    caughtBy: 'closed-after-a-read',
  },
  {
    name: 'newer-record-read',
    does: 'A record of a newer version is reconciled as one of this version.',
    file: 'lib/extraction/record.ts',
    find: 'schemaVersion === 1 && allStatuses.has(status)',
    replace: 'allStatuses.has(status)',
    caughtBy: 'newer-left-alone',
  },
  {
    name: 'newer-record-closed',
    does: 'A record of a newer version is closed.',
    file: reconcile,
    find: "return deferUntil(record, plusSeconds(deps.now(), longestDelaySeconds), 'unknown-record', deps);",
    replace: `return close(
    { ...record, when: { open: true }, set: { expiresAt: 1 }, remove: ['dueShard', 'dueAt'], proof: () => 'lost' },
    deps,
  );`,
    caughtBy: 'newer-left-alone',
  },
];
