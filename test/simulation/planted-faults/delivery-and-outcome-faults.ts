import type { Faults } from './planted-fault.ts';

const decide = 'lib/extraction/decide.ts';
const transitions = 'lib/extraction/transitions.ts';
const recordDelivery = 'lib/extraction/record-delivery.ts';

/** Faults of deliveries and outcomes. */
export const deliveryAndOutcomeFaults: Faults = {
  'A delivery is answered with 204 before it is recorded.': {
    file: 'lib/webhook/receive-delivery.ts',
    find: 'recorded: await deps.record({ taskId, taskStatus }), ...verifiedBy };',
    replace: "recorded: (void deps.record({ taskId, taskStatus }), 'unknown-status'), ...verifiedBy };",
    caughtBy: 'wake-not-lost',
  },
  'A delivery whose outcome could not be recorded is answered with 204.': {
    file: recordDelivery,
    find: '{ ...deps, perform: cannotPerform });',
    replace: `{ ...deps, perform: cannotPerform }).catch(
    () => ({ conclusion: 'closed' }),
  );`,
    caughtBy: 'woken-after-recorded',
  },
  'A delivery whose message could not be sent is answered with 204.': {
    file: recordDelivery,
    find: '{ ...deps, perform: cannotPerform }',
    replace: `{
    ...deps,
    send: (...of) => deps.send(...of).catch(() => undefined),
    perform: cannotPerform,
  }`,
    caughtBy: 'queued-before-woken',
  },
  'An outcome is written over every other status.': {
    file: transitions,
    find: `when: { taskId },
        set: {`,
    replace: `when: { status: [...allowedTransitions[transition].from, 'UNCONFIRMED', 'STARTING', 'COMPLETED', 'PARTIAL', 'FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'] },
        set: {`,
    caughtBy: 'outcome-stands',
  },
  'TIMED_OUT is written as final, although a correction can replace it.': {
    file: transitions,
    find: "    reason: 'deadline-passed',\n",
    replace: "    reason: 'deadline-passed',\n    isFinal: true,\n",
    caughtBy: 'outcome-stands',
  },
  'UNCONFIRMED is written as final, although the attempt may still write its taskId.': {
    file: transitions,
    find: "'markUnconfirmed', decision, sameAttempt(decision.record), { status: 'UNCONFIRMED' });",
    replace:
      "'markUnconfirmed', decision, sameAttempt(decision.record), { status: 'UNCONFIRMED', isFinal: true });",
    caughtBy: 'outcome-stands',
    where: { scenario: 'skewed-reconcile', preemptions: 1 },
  },
  'A delivery after TIMED_OUT does not correct the outcome.': {
    file: decide,
    find: 'if (mayTakeStatus(record)) {',
    replace: "if (mayTakeStatus(record) && (record.status === 'RUNNING' || invoker.kind !== 'webhook')) {",
    caughtBy: 'delivery-not-lost',
  },
  'Every process that finds the same outcome or the same close recorded counts it.': {
    file: 'lib/extraction/write-progress.ts',
    find: "if (outcome.kind !== 'written') return outcome;",
    replace: "if (outcome.kind === 'lost') return outcome;",
    caughtBy: 'counted-once',
  },
  'Reconcile ignores the status that a webhook left in Tasks.': {
    file: decide,
    find: 'if (taskStatus !== undefined) {',
    replace: `const isDelivered = invoker.kind === 'start' || invoker.kind === 'webhook';
  if (isDelivered && taskStatus !== undefined) {`,
    caughtBy: 'delivery-not-lost',
    where: { scenario: 'disagreeing', faults: 1 },
  },
  'Reconcile does not adopt a task that start-task did not link.': {
    file: 'lib/extraction/reconcile/reconcile.ts',
    find: 'await deps.tasks.adopt(taskId, extractionId)',
    replace: '{ extractionId, ...(found ?? { taskId }) }',
    caughtBy: 'delivery-not-lost',
    where: { scenario: 'after-grace', faults: 1, events: 1, from: 12 },
  },
  'Past the deadline, TIMED_OUT is written without a last read.': {
    file: decide,
    find: "  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context)",
    replace: `  if (isIn(context, 'running') && isTimeOver(context)) return withoutFinalStatus(context, readAs('still-running'));
  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context)`,
    caughtBy: 'last-read-before-timed-out',
  },
  'The task is not read in grace.': {
    file: decide,
    find: "  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context)",
    replace: `  if (isIn(context, 'grace')) return withoutFinalStatus(context, readAs('still-running'));
  return isIn(context, 'running', 'grace', 'collecting') ? planRead(context)`,
    caughtBy: 'closed-after-a-read',
  },
  'TIMED_OUT is written over an outcome that was recorded during the last read.': {
    file: 'lib/extraction/change.ts',
    find: "markTimedOut: { from: ['RUNNING'], to: ['TIMED_OUT'] },",
    replace: "markTimedOut: { from: ['RUNNING', ...terminalStatuses], to: ['TIMED_OUT'] },",
    caughtBy: 'allowed-transitions',
    where: 'at random',
    firstSeed: 900,
  },
  'A status that the API document does not list counts as final.': {
    file: 'lib/extraction/reconcile/read-task.ts',
    find: 'if (!isTerminalStatus(taskStatus)) {',
    replace: `if (taskStatus === 'PAUSED') return without({ kind: 'ended', taskStatus: 'FAILED', results: 'none', expected: false });
  if (!isTerminalStatus(taskStatus)) {`,
    caughtBy: 'status-is-the-providers',
  },
  'A poll by consent that is answered with 403, 404, 408, 425 or 429 and an errorType ends the extraction.': {
    file: 'lib/provider/extractions/read-extraction.ts',
    find: 'status >= 500 || statusesOfPoll.includes(status)',
    replace: 'status >= 500',
    caughtBy: 'status-is-the-providers',
    where: { scenario: 'consent-v1', faults: 1 },
  },
  'A task that is linked to another extraction settles this one, and its results are stored.': {
    file: decide,
    find: 'if (!observed.isOwn) return',
    replace: "if (!observed.isOwn && invoker.kind === 'start') return",
    caughtBy: 'status-is-the-providers',
    where: { scenario: 'others-task-silent', faults: 1 },
  },
  'An extraction that was given the task of another extraction is closed without a count.': {
    file: decide,
    find: "'TaskLinkedElsewhere',",
    replace: "context.invoker.kind === 'start' ? 'UnlinkedDelivery' : 'TaskLinkedElsewhere',",
    caughtBy: 'others-task-disowned',
  },
  'Reconcile writes NOT_STARTED while a start may still be tried.': {
    file: decide,
    find: "if (isTooLateToStart(context)) return { kind: 'find-request'",
    replace: "if (context.now.getTime() > 0) return { kind: 'find-request'",
    caughtBy: 'not-started-means-no-task',
  },
};
