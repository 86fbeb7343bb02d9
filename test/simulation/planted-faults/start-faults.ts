import type { Faults } from './planted-fault.ts';

const decide = 'lib/extraction/decide.ts';
const start = 'lib/extraction/start/start.ts';
const writeStart = 'lib/extraction/write-progress.ts';
const requestData = 'lib/extraction/request-data.ts';
const transitions = 'lib/extraction/transitions.ts';
const startAnswer = 'lib/extraction/start/start-call.ts';
const machine = 'infra/extraction-machine-definition.ts';

/** Faults of the start. */
export const startFaults: Faults = {
  'A start call is made however little of the invocation is left after the claim.': {
    file: 'lib/extraction/start/start-call.ts',
    find: "if (!hasTimeFor(1, deps)) return notCalled('TooLittleTime', 'InternalError');",
    caughtBy: 'time-for-the-call',
  },
  'The start call is made without the `STARTING` write.': {
    file: start,
    find: 'const claimed = await startWriter(item, deps)(starting, [], record);',
    replace: "const claimed = { kind: 'written' as const, record };",
    caughtBy: 'starting-written-before-call',
  },
  'The `STARTING` write is made before a token is obtained, so that a failed login ends as UNCONFIRMED.': {
    file: start,
    find: "if (obtained.kind === 'failed') {",
    replace: `if (obtained.kind === 'failed') {
      const early = markStarting({ record, attemptId: deps.newAttemptId(), now: now(), timings });
      await startWriter(item, deps)(early, []);`,
    caughtBy: 'unconfirmed-for-a-reason',
  },
  'A start call that was answered with 5xx, or not at all, is repeated.': {
    file: startAnswer,
    find: 'if (error instanceof ProviderBusy) return busy(error, now);',
    replace:
      "if (error instanceof ProviderBusy || (error as Error).name === 'ProviderAmbiguous') return busy(error as ProviderBusy, now);",
    caughtBy: 'one-start-call',
  },
  'A start call that was not answered counts as refused.': {
    file: startAnswer,
    find: "return { kind: 'unknown', reason: problem === 'unexpected-answer'",
    replace: "return { kind: 'refused', reason: problem === 'unexpected-answer'",
    caughtBy: 'rejected-means-no-task',
  },
  'A start call that was answered with 500 and an errorType counts as refused.': {
    file: startAnswer,
    find: 'if (failure.status < 500 && failure.status !== requestTimeout) {',
    replace: 'if (failure.status <= 500 && failure.status !== requestTimeout) {',
    caughtBy: 'rejected-means-no-task',
    where: { scenario: 'consent-v2', faults: 1 },
  },
  'A cancellation is written although a start was claimed since it was decided.': {
    file: transitions,
    find: "status: 'NOT_STARTED', isFinal: true } as const;\n  const when = sameAttempt(decision.record);",
    replace:
      "status: 'NOT_STARTED', isFinal: true } as const;\n  const when = { status: ['REQUESTED', 'STARTING'] as const };",
    caughtBy: 'running-start-left-alone',
    where: { scenario: 'cancelled', faults: 0, preemptions: 2, from: 10 },
  },
  'A start attempt reverts the `STARTING` write of any attempt, not only its own.': {
    file: transitions,
    find: `when: { attemptId },
    set: {
      status: 'REQUESTED',`,
    replace: `when: {},
    set: {
      status: 'REQUESTED',`,
    caughtBy: 'one-start-call',
    where: { scenario: 'busy-first', faults: 1, preemptions: 1, from: 11 },
  },
  'A start attempt that was settled as stale continues with its start call.': {
    file: transitions,
    find: "ownIf(refusing.attemptId === attemptId && refusing.status === 'STARTING')",
    replace: 'ownIf(refusing.attemptId === attemptId)',
    caughtBy: 'starting-written-before-call',
    where: { scenario: 'skewed-reconcile', faults: 1, preemptions: 1, after: '8.1,10.6' },
  },
  'The item of the request is removed before the answer of the start call is recorded.': {
    file: start,
    find: 'made = called;',
    replace: `made = called;
    await deps.requests.remove(requestId, 'any task');`,
    caughtBy: 'request-item-kept',
  },
  'The item of the request is kept although the provider has the task.': {
    file: requestData,
    find: "'ended-by-start': done,",
    replace: "'ended-by-start': doneWithoutStart,",
    caughtBy: 'request-item-forgotten',
  },
  'Reconcile adopts a task, and leaves the credentials that no start-task removes any more.': {
    file: requestData,
    find: "'task-adopted': { credentials: always, consent: never },",
    replace: "'task-adopted': onEach(never),",
    caughtBy: 'adopted-request-forgotten',
    where: { scenario: 'disagreeing', faults: 1 },
  },
  'A late answer is not recorded if the item of its consent could not be put back at the first try.': {
    file: writeStart,
    find: 'if (item) await putBack(item, deps);',
    replace: 'if (item) await deps.requests.put(item);',
    caughtBy: 'unconfirmed-for-a-reason',
    where: { scenario: 'skewed-consent', faults: 1, preemptions: 1, from: 10 },
  },
  'The `STARTING` write also applies to a later record under the same id.': {
    file: transitions,
    find: '? { requestId, withoutAttempt: true } : { requestId, attemptId };',
    replace: '? { withoutAttempt: true } : { attemptId };',
    caughtBy: 'request-of-its-record',
    where: { scenario: 'plain', preemptions: 1, events: 1, from: 6 },
  },
  'A write whose answer was lost counts as the write of another process.': {
    file: writeStart,
    find: "kind: applied ? 'written' : change.readRefusal(record)",
    replace: "kind: applied ? 'written' : 'lost'",
    caughtBy: 'unconfirmed-for-a-reason',
  },
  'A start counts as stale while its process still runs.': {
    file: 'lib/extraction/deadlines.ts',
    find: 'plusSeconds(startingAt, startTimeout);',
    replace: 'plusSeconds(startingAt, startTimeout / 1_000);',
    caughtBy: 'running-start-left-alone',
    where: 'at random',
    firstSeed: 200,
  },
  'The callback token is stored before the record is RUNNING.': {
    file: start,
    find: 'telemetry.about({ taskId: result.taskId });',
    replace: 'await deps.tasks.link({ ...input, taskId: result.taskId });',
    caughtBy: 'woken-after-recorded',
    where: { scenario: 'plain', preemptions: 1 },
  },
  'The status that a webhook left before the link is ignored.': {
    file: decide,
    find: 'if (taskStatus !== undefined) {',
    replace: "if (invoker.kind !== 'start' && taskStatus !== undefined) {",
    caughtBy: 'wake-not-lost',
  },
  'A timed-out invocation stores its callback token over that of a later one.': {
    file: start,
    find: 'const link = { taskId, extractionId, callbackToken, callbackAttempt };',
    replace: 'const link = { taskId, extractionId, callbackToken, callbackAttempt: 0 };',
    caughtBy: 'rendezvous',
    where: { scenario: 'plain', faults: 1, preemptions: 1 },
  },
  'A start is tried after the end of the start window.': {
    file: decide,
    find: "return { kind: isTooLateToStart(context) ? 'check-start' : 'start', counts: [] };",
    replace: "return { kind: 'start', counts: [] };",
    caughtBy: 'start-in-time',
    where: { scenario: 'busy-for-long', faults: 1 },
  },
  'An interrupted start-task is retried only three times, unless its error is called Lambda.Unknown.': {
    file: machine,
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
  'The machine has as many retries as fill the start window on average, so that jitter lets it abandon every second start early.':
    {
      file: machine,
      find: 'deviations: 3,',
      replace: 'deviations: 0,',
      caughtBy: 'start-window-used',
    },
  'The machine waits for the answer of a poll until the execution times out.': {
    file: machine,
    find: 'TimeoutSeconds: reconcileSeconds(timings) + 10,',
    caughtBy: 'poll-not-lost',
  },
  'A failed start is not reported to the machine.': {
    file: start,
    find: "await deps.fail(input.callbackToken, 'StartFailed', meaningOf('StartFailed'));",
    replace: 'return;',
    caughtBy: 'wait-answered',
  },
  'By consent, start-task ends the machine although the queue has no message to poll.': {
    file: decide,
    find: "counts: [] } : end('queued', undefined, 'due');",
    replace: "counts: [] } : end('queued');",
    caughtBy: 'queued-before-woken',
  },
  'The machine waits for a webhook of a provider that sends none.': {
    file: decide,
    find: "hasWebhook(record) ? end('awaits-webhook') : end('queued', undefined, 'due')",
    replace: "end('awaits-webhook')",
    caughtBy: 'wait-answered',
  },
  'A start is tried before the time that a 429 named.': {
    file: decide,
    find: 'if (notBefore !== undefined && context.now.toISOString() < notBefore)',
    replace: "if (notBefore === '')",
    caughtBy: 'waits-as-asked',
  },
  'Once its window is over, a start logs in before the time that a 429 named.': {
    file: decide,
    find: 'if (notBefore !== undefined && context.now.toISOString() < notBefore)',
    replace:
      'if (!isTooLateToStart(context) && notBefore !== undefined && context.now.toISOString() < notBefore)',
    caughtBy: 'waits-as-asked',
    where: { scenario: 'busy-for-a-time-at-window-end', faults: 1 },
  },
  'A start call is made although the breaker holds it.': {
    file: 'lib/extraction/start/gate.ts',
    find: 'const admission = await breaker.admit(breakerSubjectOf(asking.record), { onlyCheck });',
    replace: `const admission = await breaker.admit(breakerSubjectOf(asking.record), { onlyCheck });
    if (admission.kind === 'held' && asking.record.attemptId !== undefined)
      return watched({ kind: 'pass', about: breakerSubjectOf(asking.record), admittedAt: 0 }, deps);`,
    caughtBy: 'breaker-respected',
  },
};

/** Faults of the wait in line. */
export const lineFaults: Faults = {
  'What is cancelled in line stays there until its turn.': {
    file: 'lib/extraction/operate/cancel.ts',
    find: "if (result.record?.status === 'NOT_STARTED') await endWait(result.record, deps);",
    caughtBy: 'withdrawn-is-over',
    where: { scenario: 'cancelled-in-line', preemptions: 1 },
  },
  'The item of what is cancelled goes, and nobody answers its callback token.': {
    file: 'lib/extraction/end-wait.ts',
    find: 'if (found.callbackToken !== undefined) await wake(found.callbackToken, extractionId);',
    caughtBy: 'withdrawn-is-over',
    where: { scenario: 'cancelled-in-line', preemptions: 1 },
  },
  'The execution of what is erased in line waits there until its item goes with the rest, two minutes later.':
    {
      file: 'lib/extraction/erase/erase-extraction.ts',
      find: "if (written?.status === 'NOT_STARTED') await removeUnstarted(of, deps);",
      replace: "if (written?.status === 'NOT_STARTED') await deps.requests.remove(of.requestId, 'any task');",
      caughtBy: 'withdrawn-is-over',
      where: { scenario: 'erased-in-line' },
    },
  'The callback token of what is erased in line is answered, but its item stays.': {
    file: 'lib/extraction/end-wait.ts',
    find: 'if (await startLine.withdraw(found)) return;',
    replace: 'if (found.extractionId === extractionId) return;',
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-in-line' },
  },
  'The callback token of what waits for too long is answered, but its item stays.': {
    file: 'lib/extraction/end-wait.ts',
    find: 'if (await startLine.withdraw(found)) return;',
    replace: 'if (found.requestId === requestId) return;',
    caughtBy: 'not-started-is-not-in-line',
    where: { scenario: 'waits-twice' },
  },
  'What has waited for too long is not started, and stays in line.': {
    file: 'lib/extraction/reconcile/reconcile.ts',
    find: 'await endWaitOf(result, deps);',
    caughtBy: 'withdrawn-is-over',
    where: { scenario: 'waits-twice' },
  },
  'An execution whose start window is over ends, and leaves its record to the sweep.': {
    file: decide,
    find: 'if (notBefore === undefined || isTooLateToStart(context)) return failed;',
    replace:
      "if (notBefore === undefined || isTooLateToStart(context)) return problem === undefined && isTooLateToStart(context) ? end('queued') : failed;",
    caughtBy: 'queued-before-woken',
  },
  'A start that the rate refuses as its window ends goes in line.': {
    file: decide,
    find: "failStart(isTooLateToStart(context) ? 'StartWindowOver' : error, problem);",
    replace:
      "failStart(isTooLateToStart(context) && error !== 'Waits' ? 'StartWindowOver' : error, problem);",
    caughtBy: 'nobody-waits-in-vain',
    where: { scenario: 'over-the-rate-at-window-end', preemptions: 1 },
  },
  'A start that was just released counts as one that was never in line.': {
    file: 'lib/extraction/deadlines.ts',
    find: 'secondsTo(entry.releasedAt ?? entry.waitingSince)',
    replace: 'secondsTo(entry.waitingSince)',
    caughtBy: 'not-started-means-no-task',
    where: 'at random',
    firstSeed: 22873,
  },
  'Reconcile lets a start wait that was never in line.': {
    file: 'lib/extraction/deadlines.ts',
    find: 'entry.callbackToken === undefined ? secondsTo',
    replace: "entry.callbackToken === '' ? secondsTo",
    caughtBy: 'waits-no-longer',
    where: { scenario: 'no-dispatcher-without-rule-from-0', events: 1 },
  },
  'Reconcile lets each stay in line last for as long as all together may.': {
    file: 'lib/extraction/deadlines.ts',
    find: 'secondsTo(entry.waitingSince) + maxWait - entry.waitedMs / 1_000;',
    replace: 'secondsTo(entry.waitingSince) + maxWait;',
    caughtBy: 'waits-no-longer',
    where: { scenario: 'waits-twice' },
  },
};
