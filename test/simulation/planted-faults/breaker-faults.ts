import type { Faults } from './planted-fault.ts';

const state = 'lib/breaker/breaker-state.ts';
const circuit = 'lib/breaker/circuit-breaker.ts';
const item = 'lib/shared-item/shared-item.ts';
const stored = 'lib/breaker/stored-breaker.ts';

/** Faults of the breakers, which are searched in outages of the provider. */
export const outageFaults: Faults = {
  'Each process counts its own failures.': {
    file: item,
    find: 'const stored = await store.replace(name, current.version, { state: format(state), version });',
    replace: 'const stored = { state, version };',
    caughtBy: 'unconfirmed-bounded',
  },
  'A process reads the state of the breakers only once.': {
    file: circuit,
    find: 'time() - readAt < cacheMs && (known',
    replace: 'Number.isFinite(readAt) && (known',
    caughtBy: 'held-calls-not-made',
  },
  'Each process that finds a turn free makes a call.': {
    file: circuit,
    find: "mayStart(state, name, time()) === 'yes'",
    replace: "(mayStart(state, name, time()) === 'yes' || state.opened !== undefined)",
    caughtBy: 'held-calls-not-made',
  },
  'Who has a turn makes the start call without a login before.': {
    file: 'lib/extraction/start/start.ts',
    find: "const logIn = admission.kind === 'turn' ? deps.logIn : undefined;",
    replace: 'const logIn = undefined;',
    caughtBy: 'logs-in-first',
  },
  'A start that is refused with a 400 counts as accepted.': {
    file: circuit,
    find: "if (shown.kind === 'accepted') {",
    replace: "if (shown.kind !== 'failed') {",
    caughtBy: 'closed-by-an-accepted-start',
  },
  'A turn is never free again if its holder was interrupted.': {
    file: state,
    find: 'const turn: Turn = { at: now + turnSeconds * 1_000, holder };',
    replace: 'const turn: Turn = { at: now + 3_600_000 + 0 * turnSeconds, holder };',
    caughtBy: 'recovers',
  },
  'A report of a turn begins with a read that may not know the turn yet.': {
    file: item,
    find: "await store.read(name, 'strongly')",
    replace: "await store.read(name, 'eventually')",
    caughtBy: 'logs-in-first',
    firstSeed: 150,
  },
  'A group is stored as out of trouble although its starts fail.': {
    file: stored,
    find: '[name, acceptedAt ?? null, ...failed]',
    replace: '[name, acceptedAt ?? null]',
    caughtBy: 'opens-in-time',
  },
  'A 4xx counts as a failure of the provider.': {
    file: 'lib/extraction/start/start-call.ts',
    find: 'if (!(error instanceof ProviderAmbiguous)) return false;',
    replace: 'if (!(error instanceof ProviderAmbiguous)) return true;',
    caughtBy: 'opens-for-a-reason',
  },
  'A start call counts as failed only once its timeout has ended it.': {
    file: 'lib/extraction/start/gate.ts',
    find: "slow ??= report(kind === 'start');",
    replace: 'slow ??= undefined;',
    caughtBy: 'opens-in-time',
  },
  'The acceptance of a start that was slow does not close the breakers.': {
    file: 'lib/extraction/start/gate.ts',
    find: "!== undefined && shown.kind === 'failed' && going.kind !== 'turn';",
    replace: "!== undefined && shown.kind !== 'nothing' && going.kind !== 'turn';",
    caughtBy: 'accepted-closes',
    firstSeed: 16,
  },
  'An extraction that always fails counts with each of its calls.': {
    file: state,
    find: 'before.failed.length >= settings.failures || before.failed.some(([one]) => one === extraction);',
    replace: 'before.failed.length >= settings.failures;',
    caughtBy: 'opens-for-a-reason',
  },
  'The machine retries a held start four times only.': {
    file: 'infra/extraction-machine-definition.ts',
    find: 'MaxAttempts: startRetryAttempts(timings),',
    replace: 'MaxAttempts: 4,',
    caughtBy: 'recovers',
  },
};

/** Faults of the breakers, and of what reads share, which are searched in the mixes. */
export const mixFaults: Faults = {
  'A read that hangs holds a consumer of the reconcile queue for its whole timeout, with each poll.': {
    file: 'lib/extraction/decide.ts',
    find: "invoker.kind === 'queue' && invoker.isSlow !== true;",
    replace: "invoker.kind === 'queue' && invoker.isSlow === undefined;",
    caughtBy: 'bounded-delay',
  },
  'Starts that fail at one bank lower the rate of all, however many pass at others.': {
    file: 'lib/rate-limit/call-counts.ts',
    find: 'beside >= byChance / 2',
    replace: 'beside >= 0 * byChance',
    caughtBy: 'half-start-soon',
    firstSeed: 20,
  },
  'All callers have one item.': {
    file: 'lib/extraction/record.ts',
    find: 'caller: record.requestedBy,',
    replace: "caller: 'arn:aws:iam::111122223333:role/Caller',",
    caughtBy: 'bounded-delay',
    firstSeed: 13,
  },
  'A group whose last start failed before counts for its caller again.': {
    file: state,
    find: 'first !== undefined && first[1] > acceptedAt;',
    replace: 'first !== undefined && first[1] > 0 * acceptedAt;',
    caughtBy: 'opens-for-a-reason',
    firstSeed: 5,
  },
  'A message that moves to the slow queue reads whenever it is received, although another has read since.': {
    file: 'lib/extraction/run.ts',
    find: 'dueAt: invoker.dueAt ?? dueAt',
    replace: 'dueAt: invoker.dueAt',
    caughtBy: 'messages-do-not-multiply',
    firstSeed: 24,
  },
};

/** Faults of the breakers, which are searched in random populations. */
export const populationFaults: Faults = {
  'All banks of a caller are one group.': {
    file: 'lib/extraction/record.ts',
    find: 'group: entityOrProductOf(record),',
    replace: "group: 'all',",
    caughtBy: 'bounded-delay',
  },
};
