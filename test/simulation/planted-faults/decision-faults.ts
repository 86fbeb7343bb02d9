import type { Faults } from './planted-fault.ts';

const decide = 'lib/extraction/decide.ts';
const due = 'lib/extraction/due.ts';
const readTask = 'lib/extraction/reconcile/read-task.ts';
const requestData = 'lib/extraction/request-data.ts';
const run = 'lib/extraction/run.ts';

/** Faults of what follows, which the enumeration of all decisions catches without a schedule. */
export const decisionFaults: Faults = {
  'All decisions and writes of an invocation have the time of the first.': {
    file: run,
    find: '  const { telemetry } = deps;\n  let',
    replace:
      '  const begunAt = deps.now();\n  deps = { ...deps, now: () => begunAt };\n  const { telemetry } = deps;\n  let',
    caughtBy: 'time-is-fresh',
  },
  'A read that returns after the end of grace, and found the task running, is followed by another.': {
    file: decide,
    find: 'if (!endsNow(context, undecided))\n    return toDefer',
    replace: 'if (!endsNow(context, undecided) || undecided.unread === false)\n    return toDefer',
    caughtBy: 'limits-hold',
  },
  'A reading that changed nothing is used for the record that refused the close.': {
    file: decide,
    find: 'return reading.known ? waiting',
    replace: `if (waiting.kind === 'write' && waiting.ifRefused === 'plan') return { ...waiting, ifRefused: observed };
  return reading.known ? waiting`,
    caughtBy: 'refusal-forgets',
  },
  'A refused TIMED_OUT ends the chain as if it had been written.': {
    file: run,
    find: "kind === 'lost' ? ifRefused : ifWritten",
    replace: "kind === 'lost' && (ifWritten === 'plan' || ifWritten.kind !== 'end') ? ifRefused : ifWritten",
    caughtBy: 'refusal-forgets',
  },
  'A process that finds its TIMED_OUT written by another sends the message for it, too.': {
    file: run,
    find: "kind === 'written' ? next : { ...next, message: 'none' as const }",
    replace: 'next',
    caughtBy: 'visited-again',
  },
  'The next message of a record that is read slowly goes to the reconcile queue.': {
    file: run,
    find: 'await (readsSlowly === true ? sendSlow : send)(body, requestedBy, delaySeconds);',
    replace: 'await send(body, requestedBy, delaySeconds);',
    caughtBy: 'visited-again',
  },
  'A chain whose writes are all refused never ends.': {
    file: run,
    find: 'steps += 1;',
    replace: 'steps = 1;',
    caughtBy: 'ends-contended',
  },
  'The write that keeps that an answer is too large keeps nothing, so that it is made again and again.': {
    file: 'lib/extraction/transitions.ts',
    find: 'set: { oversizedAt: now.toISOString() },',
    replace: 'set: { schemaVersion: 1 },',
    caughtBy: 'never-throws',
  },
  'A delivery whose writes are all refused leaves no message.': {
    file: run,
    find: "end('queued', 'contended', 'webhook')",
    replace: "failStart('StartInProgress')",
    caughtBy: 'ends-contended',
  },
  'Each reconcile by consent removes the item of the request.': {
    file: requestData,
    find: '  consent: done.consent,',
    replace: '  consent: always,',
    caughtBy: 'needed-request-kept',
  },
  'What an operator ends keeps the item of its request.': {
    file: requestData,
    find: "'ended-by-operator': doneWithoutStart,",
    replace: "'ended-by-operator': onEach(never),",
    caughtBy: 'request-forgotten',
  },
  'An operator is asked to repeat it, and nobody continues.': {
    file: decide,
    find: "if (invoker.kind === 'machine' && hasWebhook(record))",
    replace: "if (invoker.kind !== 'queue' && hasWebhook(record))",
    caughtBy: 'visited-again',
  },
  'A store that fails in the reconcile queue is not made again with its whole time.': {
    file: decide,
    find: "return isBriefFor(context.invoker)\n        ? moveToSlowQueue('results-not-stored')",
    replace:
      "return isTimeOver(context) && isBriefFor(context.invoker) ? moveToSlowQueue('results-not-stored')",
    caughtBy: 'brief-decides-nothing',
  },
  'After a store that failed with its whole time, the next one is made by the reconcile queue.': {
    file: decide,
    find: "{ unread: 'failed', problem: 'results-not-stored', explanation: 'results-not-stored' }",
    replace: "readAs('results-not-stored')",
    caughtBy: 'brief-decides-nothing',
  },
  'The last read of results that lag is made long after the end of the lag.': {
    file: due,
    find: 'earlier(lagEnd(record, timings), resultsAgain(record, now, timings));',
    replace: 'resultsAgain(record, now, timings);',
    caughtBy: 'incomplete-read-again',
  },
  "An operator's pause of the last read abandons the results.": {
    file: decide,
    find: "if (undecided.unread !== 'not-now' && endsNow(context, undecided))\n    return counting('CollectionFailed', abandon(context, undecided));",
    replace:
      "if (isTimeOver(context)) return counting('CollectionFailed', abandon(context, { problem: 'InternalError', ...undecided }));",
    caughtBy: 'limits-hold',
  },
  'A STARTING without its attempt is deferred for ever.': {
    file: decide,
    find: "if (status === 'STARTING') return staleStart(context);",
    replace: "if (status === 'STARTING') return startInProgress(context);",
    caughtBy: 'closes-incomplete',
  },
  'A time that is none is taken as it is, so that each reconcile of its record throws.': {
    file: 'lib/extraction/phase.ts',
    find: 'return Number.isNaN(parsed) ? before : new Date(parsed).toISOString();',
    replace: 'return parsed === 0 ? before : (time ?? before);',
    caughtBy: 'closes-incomplete',
  },
  'Each try of the last read replaces when the first one began, so that a message that comes often enough keeps the record open.':
    {
      file: 'lib/extraction/transitions.ts',
      find: 'lastReadBegunAt: lastReadBegunAt ?? now.toISOString()',
      replace: 'lastReadBegunAt: now.toISOString()',
      caughtBy: 'closes-though-reads-die',
    },
  'The record keeps when its last read began before it is known whether reads are paused.': {
    file: readTask,
    find: "  if (await deps.isPaused('reads')) {",
    replace: `  if (planned.kind === 'last-read') await tryToKeep(beginLastRead({ record, now: now() }), record, deps);
  if (await deps.isPaused('reads')) {`,
    caughtBy: 'closes-though-reads-die',
  },
  'The last read is made in the reconcile queue.': {
    file: decide,
    find: '(isOver || record.readsSlowly === true)',
    replace: 'record.readsSlowly === true',
    caughtBy: 'reads-allowed',
  },
  'A delivery reconciles the record that refused it.': {
    file: decide,
    find: "invoker.kind === 'webhook' ? atRest(context, 'webhook') :",
    caughtBy: 'never-throws',
  },
  'A start whose claim was refused makes the start call.': {
    file: 'lib/extraction/start/start.ts',
    find: "if (claimed.kind === 'lost')",
    replace: "if (claimed.kind === 'lost' && claimed.record === undefined)",
    caughtBy: 'start-call-once',
  },
  'A change of status is also written to a record that runs.': {
    file: 'lib/extraction/transitions.ts',
    find: 'when: { status: allowedTransitions[transition].from, ...when },',
    replace: "when: { status: [...allowedTransitions[transition].from, 'RUNNING'], ...when },",
    caughtBy: 'statuses-of-the-table',
  },
  'A close is written although another process has closed the record.': {
    file: 'lib/extraction/transitions.ts',
    find: '  open: true,\n  ...(record.collectedAt',
    replace: '  ...(record.collectedAt',
    caughtBy: 'closed-left-alone',
  },
  'A start that was settled as stale does not write its task.': {
    file: decide,
    find: "if (context.record.status === 'UNCONFIRMED' && result.kind === 'accepted') {",
    replace:
      "if (context.record.status === 'UNCONFIRMED' && result.kind === 'accepted' && attemptId === '') {",
    caughtBy: 'transitions-occur',
  },
};
