import type { Faults } from './planted-fault.ts';

const gate = 'lib/extraction/start/gate.ts';
const dispatcher = 'lib/rate-limit/dispatch-starts.ts';

/** Faults of the line, its rate and its dispatcher. `firstSeed` is the small crowd that shows it, the first one 1. */
export const crowdFaults: Faults = {
  'All callers share a lane, in which banks go by turns.': {
    file: 'lib/rate-limit/choose-next.ts',
    find: '[place.caller, laneOf(place), prefixOf(place)]',
    replace: '[place.priority, place.priority, prefixOf(place)]',
    caughtBy: 'lanes-share',
    firstSeed: 1,
  },
  'The dispatcher reads all groups of a lane before it reads the next lane.': {
    file: 'lib/rate-limit/read-line.ts',
    find: 'const maxOfLane = 8;',
    replace: 'const maxOfLane = 8_000;',
    caughtBy: 'lanes-share',
    firstSeed: 11,
  },
  'A tick ends once all of its releases have ended.': {
    file: dispatcher,
    find: 'for (const one of ticked.releases) releases.begin(one);',
    replace: 'for (const one of ticked.releases) releases.begin(one); await releases.settle();',
    caughtBy: 'rate-is-kept',
    firstSeed: 12,
  },
  'A start that the provider refused waits behind all others of its lane.': {
    file: 'lib/extraction/start/asking.ts',
    find: 'const at = placeAt(requestedAt, { refusals, notBefore }, time);',
    replace: 'const at = time.toISOString();',
    caughtBy: 'oldest-first',
    firstSeed: 2,
  },
  'A start that is refused again and again comes back to the front each time.': {
    file: 'lib/extraction/start/asking.ts',
    find: 'const at = placeAt(requestedAt, { refusals, notBefore }, time);',
    replace: 'const at = requestedAt;',
    caughtBy: 'nobody-is-lost',
    firstSeed: 9,
  },
  'Each refusal of a start that is refused again and again lowers the rate of all.': {
    file: gate,
    find: 'if (showsRate(refusalsOf(asking))) await',
    replace: 'await',
    caughtBy: 'lanes-share',
    firstSeed: 9,
  },
  'The start window counts the time in line.': {
    file: 'lib/extraction/deadlines.ts',
    find: 'startWindow: startWindow + waited / 1_000,',
    replace: 'startWindow: startWindow + 0 * waited,',
    caughtBy: 'nobody-is-lost',
    firstSeed: 3,
  },
  'A 429 about one user counts as one of the rate.': {
    file: 'lib/extraction/codes.ts',
    find: 'error.refusal === undefined ||\n  refusalCodes[error.refusal] === undefined;',
    replace: "error.name !== '';",
    caughtBy: 'learnt-from-the-rate',
    firstSeed: 4,
  },
  'Each dispatcher releases, also while another has the lease.': {
    file: 'lib/rate-limit/rate-state.ts',
    find: 'isDispatching(state, now) && state.lease?.holder !== holder;',
    replace: "isDispatching(state, now) && holder === '';",
    caughtBy: 'one-dispatcher',
    firstSeed: 5,
  },
  'Nothing is learnt from what the provider accepts and refuses.': {
    file: 'lib/rate-limit/start-limiter.ts',
    find: 'await line.count(second, {',
    replace: 'await Promise.resolve({',
    caughtBy: 'rate-is-kept',
    firstSeed: 2,
  },
  'A low rate grows in a window of minutes as in one of ten seconds.': {
    file: 'lib/rate-limit/learn-rate.ts',
    find: 'Math.max(1, seconds / windowSeconds)',
    replace: 'Math.max(1, 0 * seconds)',
    caughtBy: 'rate-is-kept',
    firstSeed: 8,
  },
  'A start that was admitted before a cut, and hung, counts at the lower rate.': {
    file: 'lib/rate-limit/start-limiter.ts',
    find: "if (shown.kind === 'failed' && isBeforeCut(state, shown.admittedAt)) return undefined;",
    caughtBy: 'rate-is-kept',
    firstSeed: 13,
  },
  'A start that hangs is an overload once it has ended, and not once it is slow.': {
    file: gate,
    find: 'return { countedAt: await reportFailure(admitted, isFirst && isStartCall, deps) };',
    replace: 'return { countedAt: await reportFailure(admitted, !isFirst && isStartCall, deps) };',
    caughtBy: 'nobody-is-lost',
    firstSeed: 13,
  },
  'A start whose wait failed goes as if the dispatcher had released and counted it.': {
    file: gate,
    find: 'asking.attempt.isReleased ||',
    replace: 'asking.attempt.entry > 0 ||',
    caughtBy: 'rate-is-kept',
    firstSeed: 14,
  },
  'The dispatcher takes a start out of the line, and does not answer its callback token.': {
    file: dispatcher,
    find: '    await release(entry);\n',
    caughtBy: 'nobody-is-lost',
    firstSeed: 1,
  },
  'A start takes a permit, and does not move the time from which the next one may go.': {
    file: 'lib/rate-limit/permit.ts',
    find: "{ kind: 'add', ms: step,",
    replace: "{ kind: 'add', ms: 0,",
    caughtBy: 'rate-is-kept',
    firstSeed: 1,
  },
  'A new start asks for a permit although others wait for the rate.': {
    file: 'lib/rate-limit/start-limiter.ts',
    find: "if (isDispatching(state, time()) && hasLine(state, time())) return 'wait';",
    replace: "if (isDispatching(state, time()) && hasLine(state, 0)) return 'go';",
    caughtBy: 'oldest-first',
    firstSeed: 1,
  },
  'A start whose clock is behind takes back what one ahead has taken.': {
    file: 'lib/rate-limit/permit.ts',
    find: "return { kind: 'reset', next: from + step, from };",
    replace: "return { kind: 'reset', next: from + step, from, to: now };",
    caughtBy: 'rate-is-kept',
    firstSeed: 5,
  },
  'A cut is not undone if as large a share of the starts is refused as before.': {
    file: 'lib/rate-limit/learn-rate.ts',
    find: 'if (isBelow && share <= maxNoise && share >= learnt.share / 2)',
    replace: 'if (isBelow && share < 0 * maxNoise && share >= learnt.share / 2)',
    caughtBy: 'rate-is-kept',
    firstSeed: 16,
  },
  'A few refused calls teach a rate.': {
    file: 'lib/rate-limit/learn-rate.ts',
    find: 'const isFew = badIn(counts) < fewBad || !isEnough(counts, rate);',
    replace: 'const isFew = badIn(counts) === 0 && !isEnough(counts, rate);',
    caughtBy: 'learnt-from-the-rate',
    firstSeed: 15,
  },
};

/** Faults by which a neighbour harms others, whatever seed draws him. */
export const neighbourFaults: Faults = {
  'What one caller is refused lowers the rate of all.': {
    file: 'lib/rate-limit/learn-rate.ts',
    find: 'const areEnough = callsIn(others) >= windowCalls / 2;',
    replace: 'const areEnough = callsIn(others) < 0;',
    caughtBy: 'neighbours-delay-little',
    firstSeed: 15,
  },
  'The first second of one caller teaches a rate, although others are accepted.': {
    file: 'lib/rate-limit/learn-rate.ts',
    find: 'seconds >= firstSeconds && enough && isShared;',
    replace: 'seconds >= firstSeconds && enough && (isShared || true);',
    caughtBy: 'neighbours-delay-little',
    firstSeed: 50,
  },
  'While the provider asks one caller to wait, nobody is released.': {
    file: 'lib/rate-limit/decide-tick.ts',
    find: 'if (isPaused || held.has(callerKey(caller)))',
    replace: "if (isPaused || (held.size > 0 && caller !== ''))",
    caughtBy: 'neighbours-delay-little',
    firstSeed: 70,
  },
};

/** Faults by which a neighbour harms others through what they share beside the rate, the line and the breakers. */
export const sharingFaults: Faults = {
  'A process uses the Task Token of one user for all.': {
    file: 'lib/provider/tokens/task-tokens.ts',
    find: "createHmac('sha256', key).update(target)",
    replace: "createHmac('sha256', key).update('')",
    caughtBy: 'queues-delay-little',
  },
  'A process whose login failed fails each later start, of any caller.': {
    file: 'lib/provider/tokens/session-tokens.ts',
    find: `underWay ??= logInOnce().finally(() => {
      underWay = undefined;
    });`,
    replace: `underWay ??= logInOnce().then((token) => {
      underWay = undefined;
      return token;
    });`,
    caughtBy: 'starts-delay-little',
    firstSeed: 15,
  },
  'The reconcile queue does not distinguish who asked.': {
    file: 'lib/extraction/run.ts',
    find: 'await (readsSlowly === true ? sendSlow : send)(body, requestedBy, delaySeconds);',
    replace: "await (readsSlowly === true ? sendSlow : send)(body, requestedBy && '', delaySeconds);",
    caughtBy: 'queues-delay-little',
    firstSeed: 27,
  },
  'The erase queue does not distinguish who asked.': {
    file: 'lib/extraction/erase/search.ts',
    find: 'await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy);',
    replace: "await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy && '');",
    caughtBy: 'erasures-delay-little',
    firstSeed: 26,
  },
  'A start that hangs counts once it has ended, and not once it is slow.': {
    file: 'lib/extraction/start/gate.ts',
    find: "const isFirst = await deps.breaker.report(admitted, { kind: 'slow' });",
    replace: 'const isFirst = await Promise.resolve(admitted.admittedAt < 0);',
    caughtBy: 'starts-leave-room',
    firstSeed: 321,
  },
  'A login or Task Token that hangs counts once it has ended, and not once it is slow.': {
    file: 'lib/extraction/start/start-call.ts',
    find: "token: await watch('token', () => call.tokens.current())",
    replace: 'token: await call.tokens.current()',
    caughtBy: 'starts-leave-room',
  },
};
