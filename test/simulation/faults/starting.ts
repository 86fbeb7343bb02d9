import type { DeliberateFault } from './deliberate-fault.ts';

const start = 'lib/extraction/start.ts';
const transitions = 'lib/extraction/transitions.ts';

/** Mistakes around the start call. */
export const startingFaults: readonly DeliberateFault[] = [
  {
    name: 'no-starting-write',
    does: 'The start call leaves without the `STARTING` write.',
    file: start,
    find: 'const claimed = await persist(markStarting(row, attemptId, deps.now(), deps.timings), deps);',
    replace: "const claimed = { kind: 'done', record: row } as Awaited<ReturnType<typeof applyChange>>;",
    caughtBy: 'starting-written-before-call',
  },
  {
    name: 'starting-before-login',
    does: 'The STARTING write is written before a token is had, so that a failed login ends as UNCONFIRMED.',
    file: start,
    find: `  const call = await deps.callFor(row);
  let token: string;
  try {
    token = await call.tokens.current();
  } catch (error) {
    deps.onFailure('token', error);
    return { kind: 'retry', error: tokenFailure(error) };
  }

  const attemptId = deps.newAttemptId();
  const claimed = await persist(markStarting(row, attemptId, deps.now(), deps.timings), deps);
  if (claimed.kind === 'lost') return resumeOrRetry(claimed.record, input, deps);
`,
    replace: `  const attemptId = deps.newAttemptId();
  const claimed = await persist(markStarting(row, attemptId, deps.now(), deps.timings), deps);
  if (claimed.kind === 'lost') return resumeOrRetry(claimed.record, input, deps);
  const call = await deps.callFor(row);
  let token: string;
  try {
    token = await call.tokens.current();
  } catch (error) {
    deps.onFailure('token', error);
    return { kind: 'retry', error: tokenFailure(error) };
  }
`,
    caughtBy: 'unconfirmed-for-a-reason',
  },
  {
    name: 'post-again-on-503',
    does: 'A start call answered with 5xx, or not at all, is made again.',
    file: start,
    find: "if (error instanceof ProviderBusy) return 'ProviderBusy';",
    replace:
      "if (error instanceof ProviderBusy || (error as Error).name === 'ProviderAmbiguous') return 'ProviderBusy';",
    caughtBy: 'one-start-call',
  },
  {
    name: 'revert-the-unknown',
    does: 'An attempt whose start call was not answered goes back to REQUESTED.',
    file: start,
    find: "return markUnconfirmed(row, attemptId, called.reason, 'start', now, timings);",
    replace: 'return revertToRequested(row, attemptId, timings);',
    caughtBy: 'not-started-means-no-task',
  },
  {
    name: 'unknown-is-refused',
    does: 'A start call that was not answered is taken for refused.',
    file: start,
    find: `      if (name !== undefined) return { kind: 'not-accepted', error: name };
      return { kind: 'unknown', reason: 'start-call-unanswered' };`,
    replace: `      if (name !== undefined) return { kind: 'not-accepted', error: name };
      return { kind: 'refused', reason: 'start-call-unanswered' };`,
    caughtBy: 'rejected-means-no-task',
  },
  {
    name: 'explained-500-is-refused',
    does: 'A start call answered with 500 and an errorType is taken for refused.',
    file: start,
    find: 'if (failure.status < 500 && failure.status !== ambiguousClientStatus) {',
    replace: 'if (failure.status <= 500 && failure.status !== ambiguousClientStatus) {',
    caughtBy: 'rejected-means-no-task',
  },
  {
    name: 'revert-anybodys',
    does: 'An attempt withdraws whichever STARTING write is there, not only its own.',
    file: transitions,
    find: 'when: { status: transitions.revertToRequested.from, attemptId },',
    replace: 'when: { status: transitions.revertToRequested.from },',
    caughtBy: 'one-start-call',
    where: { scenario: 'busy-first', faults: 1, preemptions: 1 },
  },
  {
    name: 'rivals-start-taken-for-own',
    does: 'A STARTING write that another attempt has written is taken for one’s own.',
    file: 'lib/extraction/apply-change.ts',
    find: 'return row.attemptId === set.attemptId && row.status === set.status;',
    replace: 'return row.status === set.status;',
    caughtBy: 'starting-written-before-call',
    where: { scenario: 'plain', faults: 1, preemptions: 1 },
  },
  {
    name: 'dead-mark-taken-for-own',
    does: 'An attempt that finds itself declared dead goes on to its start call.',
    file: 'lib/extraction/apply-change.ts',
    find: 'return row.attemptId === set.attemptId && row.status === set.status;',
    replace: 'return row.attemptId === set.attemptId;',
    caughtBy: 'starting-written-before-call',
    where: { scenario: 'skewed-look', faults: 1, preemptions: 1 },
  },
  {
    name: 'started-for-another-record',
    does: 'An execution that outlived its record starts the one that was made anew under its id.',
    file: start,
    find: 'row?.requestId === input.requestId;',
    replace: 'row !== undefined;',
    caughtBy: 'request-of-its-record',
  },
  {
    name: 'mark-on-another-record',
    does: 'The STARTING write is written on a record that was made anew since the one that it was decided on was read.',
    file: transitions,
    find: '    requestId: record.requestId,\n',
    replace: '',
    caughtBy: 'request-of-its-record',
    where: { scenario: 'plain', preemptions: 1, events: 1 },
  },
  {
    name: 'own-lost-write-taken-for-a-rivals',
    does: 'A write of one’s own whose answer was lost counts as somebody else’s.',
    file: 'lib/extraction/apply-change.ts',
    find: 'if (result.record !== undefined && holdsAlready(change, result.record)) {',
    replace: 'if (result.record !== undefined && change.extractionId === "") {',
    caughtBy: 'unconfirmed-for-a-reason',
  },
  {
    name: 'running-start-declared-stale',
    does: 'An attempt counts as dead while its process runs.',
    file: 'lib/extraction/is-start-stale.ts',
    find: 'now.getTime() - new Date(row.startingAt).getTime() > timings.startTimeout * 1000',
    replace: 'now.getTime() - new Date(row.startingAt).getTime() > timings.startTimeout',
    caughtBy: 'running-start-left-alone',
    where: { scenario: 'plain', faults: 1, preemptions: 1 },
  },
  {
    name: 'run-late-missing',
    does: 'An attempt that was declared dead does not write its taskId any more.',
    file: start,
    find: "if (called.kind === 'accepted' && outcome.kind === 'lost') {",
    replace: "if (called.kind === 'accepted' && outcome.kind === 'lost' && attemptId === '') {",
    caughtBy: 'unconfirmed-for-a-reason',
    where: { scenario: 'skewed-clocks', faults: 1, preemptions: 1 },
  },
  {
    name: 'written-once',
    does: 'A write that fails from the STARTING write on is not tried again.',
    file: start,
    find: 'const writeAttempts = 3;',
    replace: 'const writeAttempts = 1;',
    caughtBy: 'unconfirmed-for-a-reason',
  },
  {
    name: 'link-before-record',
    does: 'The token is left before the record says RUNNING.',
    file: start,
    find: "if (called.kind === 'accepted') deps.onAccepted(called.taskId);",
    replace: "if (called.kind === 'accepted') await deps.tasks.link({ ...input, taskId: called.taskId });",
    caughtBy: 'woken-after-recorded',
  },
  {
    name: 'links-returned-status-ignored',
    does: 'What a webhook left before the link is not looked at.',
    file: start,
    find: "if (task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) return { kind: 'waiting', taskId };",
    replace:
      "if (task.taskId !== '' || task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) return { kind: 'waiting', taskId };",
    caughtBy: 'wake-not-lost',
  },
  {
    name: 'token-of-any-age',
    does: 'An invocation that the machine has given up leaves its token over that of the one after it.',
    file: start,
    find: 'await deps.tasks.link({ ...input, taskId });',
    replace: 'await deps.tasks.link({ ...input, taskId, callbackAttempt: 0 });',
    caughtBy: 'rendezvous',
    where: { scenario: 'plain', faults: 1, preemptions: 1 },
  },
  {
    name: 'window-unchecked',
    does: 'A start is still tried when the start window is over.',
    file: start,
    find: "if (deps.now().toISOString() >= windowEnd) return { kind: 'settled', status: row.status };",
    replace:
      "if (deps.now().toISOString() >= windowEnd && windowEnd === '') return { kind: 'settled', status: row.status };",
    caughtBy: 'start-in-time',
    where: { scenario: 'busy-for-long', preemptions: 1 },
  },
  {
    name: 'died-start-retried-thrice',
    does: 'A start-task that died is retried three times only, unless Step Functions reports it as Lambda.Unknown.',
    file: 'infra/constructs/extraction-machine-definition.ts',
    find: `    ErrorEquals: ['States.TaskFailed'],
    ...growing(timings.startRetryFirstSeconds, timings.startRetryEverySeconds, 2),
    MaxAttempts: startRetryAttempts(timings),
`,
    replace: `    ErrorEquals: ['ProviderBusy', 'ProviderUnreachable', 'ProviderUnauthorized', 'StartFailed', 'Lambda.Unknown'],
    ...growing(timings.startRetryFirstSeconds, timings.startRetryEverySeconds, 2),
    MaxAttempts: startRetryAttempts(timings),
  },
  {
    ErrorEquals: ['States.TaskFailed'],
    ...growing(timings.startRetryFirstSeconds, timings.startRetryEverySeconds, 2),
    MaxAttempts: 3,
`,
    caughtBy: 'start-window-used',
  },
  {
    name: 'failed-start-unreported',
    does: 'A start that broke off is not told to the machine.',
    file: 'lib/extraction/start-for-machine.ts',
    find: "await deps.fail(input.callbackToken, 'StartFailed', 'See the log of start-task.');",
    replace: 'return;',
    caughtBy: 'wait-answered',
  },
  {
    name: 'nothing-to-wait-for-unreported',
    does: 'A refusal is not told to the machine.',
    file: 'lib/extraction/start-for-machine.ts',
    find: `      await wake(callbackToken, extractionId);
      return;`,
    replace: '      return;',
    caughtBy: 'wait-answered',
  },
];
