import type { Faults } from './planted-fault.ts';

const gate = 'lib/extraction/start/gate.ts';
const dispatcher = 'lib/rate-limit/dispatch-starts.ts';

/** Faults of the line, its rate and its dispatcher. `firstSeed` is the small crowd that shows it, the first one 1. */
export const crowdFaults: Faults = {
  'lane-without-its-caller': {
    does: 'All callers share a lane, in which banks go by turns.',
    file: 'lib/rate-limit/choose-next.ts',
    find: '{ lane: laneOf(place), prefix,',
    replace: '{ lane: place.priority, prefix,',
    caughtBy: 'lanes-share',
    firstSeed: 1,
  },
  'refused-goes-to-the-end': {
    does: 'A start that the provider refused waits behind all others of its lane.',
    file: gate,
    find: 'const at = placeAt(requestedAt, { refusals, notBefore }, now);',
    replace: 'const at = now.toISOString();',
    caughtBy: 'oldest-first',
    firstSeed: 2,
  },
  'refused-blocks-its-lane': {
    does: 'A start that is refused again and again comes back to the front each time.',
    file: gate,
    find: 'const at = placeAt(requestedAt, { refusals, notBefore }, now);',
    replace: 'const at = requestedAt;',
    caughtBy: 'lanes-share',
    firstSeed: 10,
  },
  'one-user-teaches-the-rate': {
    does: 'Each refusal of a start that is refused again and again lowers the rate of all.',
    file: gate,
    find: 'if (!isRefused || showsRate(refusals)) await',
    replace: 'await',
    caughtBy: 'lanes-share',
    firstSeed: 10,
  },
  'window-counted-from-the-request': {
    does: 'The start window counts the time in line.',
    file: gate,
    find: 'startWindow: deps.timings.startWindow + waited }',
    replace: 'startWindow: deps.timings.startWindow + 0 * waited }',
    caughtBy: 'nobody-is-lost',
    firstSeed: 3,
  },
  'a-user-is-taken-for-the-rate': {
    does: 'A 429 about one user counts as one of the rate.',
    file: gate,
    find: '/^http-429(\\/|$)/.test(result.problem)',
    replace: 'result.problem !== undefined',
    caughtBy: 'learnt-from-the-rate',
    firstSeed: 4,
  },
  'no-lease': {
    does: 'Each dispatcher releases, also while another has the lease.',
    file: 'lib/rate-limit/rate-state.ts',
    find: 'lease !== undefined && lease.holder !== holder && now < lease.until',
    replace: "lease !== undefined && lease.holder === '' && holder === '' && now < lease.until",
    caughtBy: 'one-dispatcher',
    firstSeed: 5,
  },
  'refusals-not-counted': {
    does: 'Nothing is learnt from what the provider accepts and refuses.',
    file: 'lib/rate-limit/start-limiter.ts',
    find: 'await line.count(Math.floor(time() / 1_000), shown.kind);',
    caughtBy: 'rate-is-kept',
    firstSeed: 2,
  },
  'grows-by-the-window': {
    does: 'A low rate grows by 3 % for a window of minutes, as for one of ten seconds.',
    file: 'lib/rate-limit/rate-state.ts',
    find: 'Math.max(1, tens)',
    replace: 'Math.max(1, 0 * tens)',
    caughtBy: 'rate-is-kept',
    firstSeed: 9,
  },
  'cancelled-waits-on': {
    does: 'What is cancelled in line stays there until its turn.',
    file: 'lib/extraction/operate/cancel.ts',
    find: "if (result.record?.status === 'NOT_STARTED') await endWait(result.record, deps);",
    caughtBy: 'cancelled-is-over',
    firstSeed: 8,
  },
  'cancelled-without-an-answer': {
    does: 'The item of what is cancelled goes, and nobody answers its callback token.',
    file: 'lib/extraction/end-wait.ts',
    find: 'if (found.callbackToken !== undefined) await wake(found.callbackToken, extractionId);',
    caughtBy: 'cancelled-is-over',
    firstSeed: 8,
  },
  'release-forgotten': {
    does: 'The dispatcher takes a start out of the line, and does not answer its callback token.',
    file: dispatcher,
    find: '      await release(waiting);\n',
    caughtBy: 'nobody-is-lost',
    firstSeed: 1,
  },
};
