import type { PlantedFault } from './planted-fault.ts';

const transitions = 'lib/extraction/transitions.ts';
const recordDelivery = 'lib/extraction/record-delivery.ts';
const progress = 'lib/extraction/progress.ts';
const reconcile = 'lib/extraction/reconcile/reconcile.ts';
const findOutcome = 'lib/extraction/reconcile/find-outcome.ts';

/** Faults of deliveries and outcomes. */
export const settlingFaults: readonly PlantedFault[] = [
  {
    name: 'woken-before-settled',
    does: 'The machine is woken before the outcome is recorded.',
    file: recordDelivery,
    find: "const record = await settle('webhook', { extractionId, taskId, taskStatus }, deps);",
    replace:
      "if (callbackToken !== undefined) await deps.wake(callbackToken, extractionId);\n  const record = await settle('webhook', { extractionId, taskId, taskStatus }, deps);",
    caughtBy: 'woken-after-recorded',
  },
  {
    name: 'acknowledged-before-recorded',
    does: 'A delivery is answered with 204 before it is recorded.',
    file: 'lib/webhook/receive-delivery.ts',
    find: 'recorded: await deps.record({ taskId, taskStatus }) };',
    replace: "recorded: (void deps.record({ taskId, taskStatus }), 'unknown-status') };",
    caughtBy: 'wake-not-lost',
  },
  {
    name: 'failed-settle-answered-204',
    does: 'A delivery whose outcome could not be recorded is answered with 204.',
    file: recordDelivery,
    find: "const record = await settle('webhook', { extractionId, taskId, taskStatus }, deps);",
    replace:
      "const record = await settle('webhook', { extractionId, taskId, taskStatus }, deps).catch(() => undefined);",
    caughtBy: 'woken-after-recorded',
  },
  {
    name: 'failed-wake-answered-204',
    does: 'A delivery whose machine could not be woken is answered with 204.',
    file: recordDelivery,
    find: 'await deps.wake(callbackToken, extractionId);',
    replace: "await deps.wake(callbackToken, extractionId).catch(() => 'woken' as const);",
    caughtBy: 'wake-not-lost',
  },
  {
    name: 'woken-before-queued',
    does: 'The machine is ended before the queue has the collection.',
    file: recordDelivery,
    find: "if (record?.dueShard !== undefined) await deps.send({ extractionId, cause: 'webhook' });",
    replace: '',
    caughtBy: 'queued-before-woken',
  },
  {
    name: 'failed-send-answered-204',
    does: 'A delivery whose message could not be sent is answered with 204.',
    file: recordDelivery,
    find: "await deps.send({ extractionId, cause: 'webhook' });",
    replace: "await deps.send({ extractionId, cause: 'webhook' }).catch(() => undefined);",
    caughtBy: 'queued-before-woken',
  },
  {
    name: 'settle-without-condition',
    does: 'An outcome is written over every other status.',
    file: transitions,
    find: 'when: { status: from, taskId },',
    replace: "when: { status: [...from, 'UNCONFIRMED', 'STARTING', ...terminalStatuses] },",
    caughtBy: 'outcome-stands',
  },
  {
    name: 'timed-out-is-final',
    does: 'TIMED_OUT is written as final, although a correction can replace it.',
    file: transitions,
    find: "    reason: 'deadline-passed',\n",
    replace: "    reason: 'deadline-passed',\n    isFinal: true,\n",
    caughtBy: 'final-stands',
  },
  {
    name: 'interrupted-start-is-final',
    does: 'UNCONFIRMED is written as final, although the attempt may still write its taskId.',
    file: transitions,
    find: "const outcome = { status: 'UNCONFIRMED', reason, settledAt: now.toISOString(), settledBy } as const;\n  return settling(closing(decision, { status: transitions.markUnconfirmed.from,",
    replace:
      "const outcome = { status: 'UNCONFIRMED', reason, settledAt: now.toISOString(), settledBy, isFinal: true } as const;\n  return settling(closing(decision, { status: transitions.markUnconfirmed.from,",
    caughtBy: 'final-stands',
    where: { scenario: 'skewed-reconcile', preemptions: 1 },
  },
  {
    name: 'outcome-not-final',
    does: 'A final status of the provider is written without isFinal.',
    file: transitions,
    find: '        isFinal: true,\n',
    replace: '',
    caughtBy: 'final-stands',
  },
  {
    name: 'correction-ignored',
    does: 'A final status after TIMED_OUT is not recorded.',
    file: progress,
    find: "const isCorrection = settled.kind === 'lost' && settled.record?.status === 'TIMED_OUT';",
    replace: "const isCorrection = settled.kind === 'lost' && settled.record?.status === 'REQUESTED';",
    caughtBy: 'due-message-continued',
  },
  {
    name: 'correction-not-reopened',
    does: 'A correction does not put the record back into the index.',
    file: transitions,
    find: '...dueOn(extractionId, plusSeconds(now, timings.pollEvery)),',
    replace: "...(from.includes('RUNNING') ? dueOn(extractionId, plusSeconds(now, timings.pollEvery)) : {}),",
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'progress-counted-by-all',
    does: 'Every process that finds the same outcome or the same close recorded counts it.',
    file: progress,
    find: "if (outcome.kind !== 'written') return outcome;",
    replace: "if (outcome.kind === 'lost') return outcome;",
    caughtBy: 'counted-once',
  },
  {
    name: 'disagreement-uncounted',
    does: 'A second, different final status is dropped without a count.',
    file: progress,
    find: "deps.telemetry.count('StatusDisagreement', reported);",
    replace: "deps.telemetry.count('Corrected', reported);",
    caughtBy: 'delivery-not-lost',
    where: { scenario: 'disagreeing', preemptions: 1 },
  },
  {
    name: 'orphan-uncounted',
    does: 'A delivery for an unlinked task is stored without a count.',
    file: recordDelivery,
    find: "deps.telemetry.count('UnlinkedDelivery', delivery);",
    replace: '',
    caughtBy: 'delivery-not-lost',
  },
  {
    name: 'stored-delivery-ignored',
    does: 'Reconcile ignores the status that a webhook left in Tasks.',
    file: findOutcome,
    find: 'if (delivered !== undefined && isTerminalStatus(delivered)) {',
    replace: "if (delivered !== undefined && isTerminalStatus(delivered) && taskId === '') {",
    caughtBy: 'delivery-not-lost',
    where: { scenario: 'disagreeing', faults: 1 },
  },
  {
    name: 'task-not-adopted',
    does: 'Reconcile does not adopt a task that start-task did not link.',
    file: findOutcome,
    find: 'await deps.tasks.adopt(taskId, extractionId)',
    replace: '{ extractionId, ...(found ?? { taskId }) }',
    caughtBy: 'delivery-not-lost',
    where: 'at random',
    firstSeed: 31391,
  },
  {
    name: 'timed-out-without-last-read',
    does: 'Past the deadline, TIMED_OUT is written without a last read.',
    file: findOutcome,
    find: `const found = await findOutcome(record, taskId, { known: reading, isLast: false, caller }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'moved') return { kind: 'return', result: found };
  if (found.kind === 'too-large') return reconcileOversized(`,
    replace: `const late = deps.now().toISOString() >= record.deadlineAt;
  const found: OutcomeSearch = late
    ? { kind: 'none', why: 'late' }
    : await findOutcome(record, taskId, { known: reading, isLast: false, caller }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'moved') return { kind: 'return', result: found };
  if (found.kind === 'too-large') return reconcileOversized(`,
    caughtBy: 'last-read-before-timed-out',
  },
  {
    name: 'no-read-in-grace',
    does: 'The task is not read in grace.',
    file: findOutcome,
    find: `const found = await findOutcome(record, taskId, { known: reading, isLast, caller }, deps);
  if (found.kind === 'settled') return found.step;
  if (found.kind === 'moved') return { kind: 'return', result: found };
  if (found.kind === 'too-large') return abandonTooLarge(record, deps);
`,
    replace: "const found = { kind: 'none' } as OutcomeSearch;\n",
    caughtBy: 'closed-after-a-read',
  },
  {
    name: 'timed-out-over-outcome',
    does: 'TIMED_OUT is written over an outcome that was recorded during the last read.',
    file: transitions,
    find: "markTimedOut: { from: ['RUNNING'], to: ['TIMED_OUT'] },",
    replace: "markTimedOut: { from: ['RUNNING', ...terminalStatuses], to: ['TIMED_OUT'] },",
    caughtBy: 'allowed-transitions',
    where: 'at random',
    firstSeed: 900,
  },
  {
    name: 'unknown-status-is-final',
    does: 'A status that the API document does not list counts as final.',
    file: 'lib/extraction/reconcile/reading.ts',
    find: 'if (!isTerminalStatus(taskStatus)) {',
    replace:
      "if (taskStatus === 'PAUSED') return { kind: 'ended', taskStatus: 'FAILED', expected: false };\n  if (!isTerminalStatus(taskStatus)) {",
    caughtBy: 'status-is-the-providers',
  },
  {
    name: 'poll-500-is-final',
    does: 'A poll by consent that is answered with 5xx and an errorType ends the extraction.',
    file: 'lib/provider/extractions/read-extraction.ts',
    find: 'status >= 500 || statusesOfPoll.includes(status)',
    replace: 'statusesOfPoll.includes(status)',
    caughtBy: 'status-is-the-providers',
  },
  {
    name: 'poll-4xx-is-final',
    does: 'A poll by consent that is answered with 403, 404, 408, 425 or 429 and an errorType ends the extraction.',
    file: 'lib/provider/extractions/read-extraction.ts',
    find: 'status >= 500 || statusesOfPoll.includes(status)',
    replace: 'status >= 500',
    caughtBy: 'status-is-the-providers',
    where: { scenario: 'consent-v1', faults: 1 },
  },
  {
    name: 'others-task-used',
    does: 'A task that is linked to another extraction settles this one, and its results are stored.',
    file: findOutcome,
    find: 'if (found !== undefined && found.task.extractionId !== extractionId) {',
    replace: 'if (found !== undefined && found.task.extractionId === undefined) {',
    caughtBy: 'status-is-the-providers',
    where: { scenario: 'others-task-silent', faults: 1 },
  },
  {
    name: 'others-delivery-used-at-start',
    does: 'A start that was answered with the task of another extraction uses the delivery for that task.',
    file: 'lib/extraction/start/start.ts',
    find: 'if (!linked && task.extractionId !== input.extractionId) {',
    replace: 'if (!linked && task.extractionId !== input.extractionId && task.taskStatus === undefined) {',
    caughtBy: 'status-is-the-providers',
    where: { scenario: 'others-task-at-once', preemptions: 1 },
  },
  {
    name: 'others-task-uncounted',
    does: 'An extraction that was given the task of another extraction is closed without a count.',
    file: 'lib/extraction/start/start.ts',
    find: "deps.telemetry.count('TaskLinkedElsewhere', record);",
    replace: '',
    caughtBy: 'others-task-disowned',
  },
  {
    name: 'not-started-too-early',
    does: 'Reconcile writes NOT_STARTED while a start may still be tried.',
    file: reconcile,
    find: "if (!isAbandoned && !windowOver) return notYet(record, { why: 'not-started-yet' }, caller, deps);",
    replace: '',
    caughtBy: 'not-started-means-no-task',
  },
];
