import type { PlantedFault } from './planted-fault.ts';

const start = 'lib/extraction/start/start.ts';
const startAnswer = 'lib/extraction/start/start-answer.ts';
const transitions = 'lib/extraction/transitions.ts';

/** Faults of the start. */
export const startingFaults: readonly PlantedFault[] = [
  {
    name: 'no-starting-write',
    does: 'The start call is made without the `STARTING` write.',
    file: start,
    find: 'const claimed = await persist(markStarting({ ...decisionOn(record, deps), attemptId }), deps);',
    replace: "const claimed = { kind: 'written', record } as ChangeOutcome;",
    caughtBy: 'starting-written-before-call',
  },
  {
    name: 'starting-write-before-token',
    does: 'The `STARTING` write is made before a token is obtained, so that a failed login ends as UNCONFIRMED.',
    file: start,
    find: `  const { admission } = admitted;
  const logIn = admission.kind === 'turn' ? deps.logIn : undefined;
  const obtained = await obtainToken(call, { ...deps, logIn });
  if (obtained.kind === 'failed') {
    admitted.seen = obtained.seen;
    return retryLater(record, obtained.result, deps);
  }

  const attemptId = deps.newAttemptId();
  const claimed = await persist(markStarting({ ...decisionOn(record, deps), attemptId }), deps);
  if (claimed.kind === 'lost') return { kind: 'again', record: claimed.record };
`,
    replace: `  const attemptId = deps.newAttemptId();
  const claimed = await persist(markStarting({ ...decisionOn(record, deps), attemptId }), deps);
  if (claimed.kind === 'lost') return { kind: 'again', record: claimed.record };
  const { admission } = admitted;
  const logIn = admission.kind === 'turn' ? deps.logIn : undefined;
  const obtained = await obtainToken(call, { ...deps, logIn });
  if (obtained.kind === 'failed') {
    admitted.seen = obtained.seen;
    return retryLater(record, obtained.result, deps);
  }
`,
    caughtBy: 'unconfirmed-for-a-reason',
  },
  {
    name: 'start-call-repeated-on-503',
    does: 'A start call that was answered with 5xx, or not at all, is repeated.',
    file: startAnswer,
    find: "if (error instanceof ProviderBusy) return 'ProviderBusy';",
    replace:
      "if (error instanceof ProviderBusy || (error as Error).name === 'ProviderAmbiguous') return 'ProviderBusy';",
    caughtBy: 'one-start-call',
  },
  {
    name: 'unknown-is-reverted',
    does: 'A start whose call was not answered goes back to REQUESTED.',
    file: start,
    find: "return markUnconfirmed({ ...decision, reason: called.reason, settledBy: 'start' });",
    replace: 'return revertToRequested(decision);',
    caughtBy: 'not-started-means-no-task',
  },
  {
    name: 'unknown-is-refused',
    does: 'A start call that was not answered counts as refused.',
    file: startAnswer,
    find: `  if (name !== undefined) return notAccepted(name, error, now);
  return { kind: 'unknown', reason: 'start-call-unanswered' };`,
    replace: `  if (name !== undefined) return notAccepted(name, error, now);
  return { kind: 'refused', reason: 'start-call-unanswered' };`,
    caughtBy: 'rejected-means-no-task',
  },
  {
    name: 'error-type-500-is-refused',
    does: 'A start call that was answered with 500 and an errorType counts as refused.',
    file: startAnswer,
    find: 'if (failure.status < 500 && failure.status !== ambiguousClientStatus) {',
    replace: 'if (failure.status <= 500 && failure.status !== ambiguousClientStatus) {',
    caughtBy: 'rejected-means-no-task',
    where: { scenario: 'consent-v2', faults: 1 },
  },
  {
    name: 'any-start-reverted',
    does: 'A start attempt reverts the `STARTING` write of any attempt, not only its own.',
    file: transitions,
    find: 'when: { status: transitions.revertToRequested.from, attemptId },',
    replace: 'when: { status: transitions.revertToRequested.from },',
    caughtBy: 'one-start-call',
    where: { scenario: 'busy-first', faults: 1, preemptions: 1, from: 10 },
  },
  {
    name: 'others-start-counts-as-own',
    does: 'The `STARTING` write of another attempt counts as the attempt’s own.',
    file: transitions,
    find: "ownIf(refusing.attemptId === attemptId && refusing.status === 'STARTING')",
    replace: "ownIf(refusing.status === 'STARTING')",
    caughtBy: 'starting-written-before-call',
    where: 'at random',
    firstSeed: 740,
  },
  {
    name: 'stale-start-continues',
    does: 'A start attempt that was settled as stale continues with its start call.',
    file: transitions,
    find: "ownIf(refusing.attemptId === attemptId && refusing.status === 'STARTING')",
    replace: 'ownIf(refusing.attemptId === attemptId)',
    caughtBy: 'starting-written-before-call',
    where: { scenario: 'skewed-reconcile', faults: 1, preemptions: 1, from: 8 },
  },
  {
    name: 'another-record-started',
    does: 'An execution that outlived its record starts a later record under the same id.',
    file: start,
    find: 'record?.requestId === input.requestId;',
    replace: 'record !== undefined;',
    caughtBy: 'request-of-its-record',
  },
  {
    name: 'credentials-removed-before-the-answer',
    does: 'The item of the request is removed before the answer of the start call is recorded.',
    file: start,
    find: 'const called = await makeStartCall(obtained.token, call, { ...deps, reportSlow });',
    replace:
      'const called = await makeStartCall(obtained.token, call, { ...deps, reportSlow });\n  await removeRequest(record, deps);',
    caughtBy: 'request-item-kept',
  },
  {
    name: 'credentials-kept',
    does: 'The item of the request is kept although the provider has the task.',
    file: start,
    find: 'if (isRequestDone(record)) await removeRequest(record, deps);',
    replace: '',
    caughtBy: 'request-item-forgotten',
  },
  {
    name: 'reopened-without-its-item',
    does: 'A late answer reopens a consent without the item that its polls need.',
    file: start,
    find: 'if (needed) await putBack({ ...stored, taskId }, deps);',
    replace: '',
    caughtBy: 'request-item-kept',
    where: { scenario: 'skewed-consent', faults: 1, preemptions: 1 },
  },
  {
    name: 'reopened-item-removed-by-the-close',
    does: 'Who settled a start as stale removes the item that its late answer has put back.',
    file: start,
    find: 'if (needed) await putBack({ ...stored, taskId }, deps);',
    replace: 'if (needed) await putBack(stored, deps);',
    caughtBy: 'request-item-kept',
    where: { scenario: 'skewed-consent', preemptions: 2, from: 8 },
  },
  {
    name: 'reopened-item-put-once',
    does: 'A late answer reopens a consent although its item could not be put back at the first try.',
    file: start,
    find: "await writeThrice('The item of the request', () => deps.requests.put(item), deps);",
    replace: 'await deps.requests.put(item);',
    caughtBy: 'request-item-kept',
    where: { scenario: 'skewed-consent', faults: 1, preemptions: 1, from: 9 },
  },
  {
    name: 'late-task-lost-with-its-item',
    does: 'A late answer is not recorded if the item of its consent could not be put back at the first try.',
    file: start,
    find: 'if (needed) await putBack({ ...stored, taskId }, deps);',
    replace: 'if (needed) await deps.requests.put({ ...stored, taskId });',
    caughtBy: 'unconfirmed-for-a-reason',
    where: { scenario: 'skewed-consent', faults: 1, preemptions: 1, from: 9 },
  },
  {
    name: 'starting-write-on-another-record',
    does: 'The `STARTING` write also applies to a later record under the same id.',
    file: transitions,
    find: '? { requestId, withoutAttempt: true } : { requestId, attemptId };',
    replace: '? { withoutAttempt: true } : { attemptId };',
    caughtBy: 'request-of-its-record',
    where: { scenario: 'plain', preemptions: 1, events: 1, from: 4 },
  },
  {
    name: 'own-write-counts-as-others',
    does: 'A write whose answer was lost counts as the write of another process.',
    file: 'lib/extraction/store.ts',
    find: "kind: applied ? 'written' : change.proof(record)",
    replace: "kind: applied ? 'written' : 'lost'",
    caughtBy: 'unconfirmed-for-a-reason',
  },
  {
    name: 'running-start-is-stale',
    does: 'A start counts as stale while its process still runs.',
    file: 'lib/extraction/deadlines.ts',
    find: 'now.getTime() - new Date(record.startingAt).getTime() > timings.startTimeout * 1000',
    replace: 'now.getTime() - new Date(record.startingAt).getTime() > timings.startTimeout',
    caughtBy: 'running-start-left-alone',
    where: 'at random',
    firstSeed: 200,
  },
  {
    name: 'no-running-after-unconfirmed',
    does: 'A start attempt that was settled as stale does not write its taskId.',
    file: start,
    find: "if (called.kind === 'accepted' && outcome.kind === 'lost') {",
    replace: "if (called.kind === 'accepted' && outcome.kind === 'lost' && attemptId === '') {",
    caughtBy: 'unconfirmed-for-a-reason',
    where: 'at random',
  },
  {
    name: 'write-not-retried',
    does: 'A write that fails after the `STARTING` write is not tried again.',
    file: start,
    find: 'const writeAttempts = 3;',
    replace: 'const writeAttempts = 1;',
    caughtBy: 'unconfirmed-for-a-reason',
  },
  {
    name: 'link-before-record',
    does: 'The callback token is stored before the record is RUNNING.',
    file: start,
    find: 'telemetry.about({ taskId: called.taskId });',
    replace: 'await deps.tasks.link({ ...input, taskId: called.taskId });',
    caughtBy: 'woken-after-recorded',
  },
  {
    name: 'early-delivery-ignored',
    does: 'The status that a webhook left before the link is ignored.',
    file: start,
    find: 'if (task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) {',
    replace:
      "if (task.taskId !== '' || task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) {",
    caughtBy: 'wake-not-lost',
  },
  {
    name: 'older-token-replaces-newer',
    does: 'A timed-out invocation stores its callback token over that of a later one.',
    file: start,
    find: 'await deps.tasks.link({ taskId, extractionId, callbackToken, callbackAttempt });',
    replace: 'await deps.tasks.link({ taskId, extractionId, callbackToken, callbackAttempt: 0 });',
    caughtBy: 'rendezvous',
    where: { scenario: 'plain', faults: 1, preemptions: 1 },
  },
  {
    name: 'start-window-unchecked',
    does: 'A start is tried after the end of the start window.',
    file: start,
    find: 'if (now >= windowEnd) return',
    replace: "if (now >= windowEnd && windowEnd === '') return",
    caughtBy: 'start-in-time',
    where: { scenario: 'busy-for-long', preemptions: 1 },
  },
  {
    name: 'interrupted-start-retried-thrice',
    does: 'An interrupted start-task is retried only three times, unless its error is called Lambda.Unknown.',
    file: 'infra/extraction-machine-definition.ts',
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
    name: 'start-retries-for-the-mean',
    does: 'The machine has as many retries as fill the start window on average, so that jitter lets it abandon every second start early.',
    file: 'infra/extraction-machine-definition.ts',
    find: 'deviations: 3,',
    replace: 'deviations: 0,',
    caughtBy: 'start-window-used',
  },
  {
    name: 'failed-start-unreported',
    does: 'A failed start is not reported to the machine.',
    file: 'lib/extraction/start/start-for-machine.ts',
    find: "await deps.fail(input.callbackToken, 'StartFailed', 'See the log of start-task.');",
    replace: 'return;',
    caughtBy: 'wait-answered',
  },
  {
    name: 'consent-not-queued',
    does: 'By consent, start-task ends the machine although the queue has no message to poll.',
    file: 'lib/extraction/start/start-for-machine.ts',
    find: 'await send({ extractionId, ...defined({ cause, dueAt }) }, delaySeconds);',
    replace: '',
    caughtBy: 'queued-before-woken',
  },
  {
    name: 'waits-without-webhooks',
    does: 'The machine waits for a webhook of a provider that sends none.',
    file: 'lib/extraction/decide.ts',
    find: "hasWebhook(record) ? end('waiting') : end('queued', undefined, 'due')",
    replace: "end('waiting')",
    caughtBy: 'wait-answered',
  },
  {
    name: 'refusal-unreported',
    does: 'A refused start is not reported to the machine.',
    file: 'lib/extraction/start/start-for-machine.ts',
    find: `    case 'settled':
      await wake(callbackToken, extractionId);
      return;`,
    replace: `    case 'settled':
      return;`,
    caughtBy: 'wait-answered',
  },
  {
    name: 'retry-after-ignored',
    does: 'A start is tried before the time that a 429 named.',
    file: start,
    find: 'record.notBefore !== undefined && now < record.notBefore',
    replace: 'record.status === undefined',
    caughtBy: 'waits-as-asked',
  },
  {
    name: 'hold-ignored',
    does: 'A start call is made although the breaker holds it.',
    file: start,
    find: "if (admission.kind === 'held') return { kind: 'retry', error: 'ProviderPaused' };",
    replace:
      "if (admission.kind === 'held' && record.attemptId !== undefined) return { kind: 'retry', error: 'ProviderPaused' };",
    caughtBy: 'breaker-respected',
  },
];
