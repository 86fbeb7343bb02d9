import type { DeliberateFault } from './deliberate-fault.ts';

const transitions = 'lib/extraction/transitions.ts';
const reconcile = 'lib/extraction/reconcile.ts';
const request = 'lib/extraction/request.ts';

/** Mistakes around intake, collecting, closing and the sweep. */
export const keepingFaults: readonly DeliberateFault[] = [
  {
    name: 'sentence-taken-for-a-code',
    does: 'What the provider writes in place of a code is recorded as it is.',
    file: 'lib/extraction/looks-like-code.ts',
    find: '/^[A-Za-z][\\w.-]*$/.test(text)',
    replace: "text !== ''",
    caughtBy: 'nothing-sealed-shown',
  },
  {
    name: 'close-without-its-guard',
    does: 'A close is written although somebody moved the status since it was decided on.',
    file: transitions,
    find: 'const asDecidedOn = (record: Extraction): Guard => ({ status: [record.status], uncollected: true });',
    replace:
      'const asDecidedOn = (record: Extraction): Guard => ({ status: [record.status, ...terminalStatuses] });',
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'collected-without-data',
    does: 'A read that names no results closes a record whose outcome promises them.',
    file: reconcile,
    find: 'if (results === undefined && promisesData(record)) {',
    replace: "if (results === undefined && promisesData(record) && taskId === '') {",
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-given-up-at-once',
    does: 'The first collection that fails is the last.',
    file: reconcile,
    find: 'if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {',
    replace: 'if (now.toISOString() >= settledAt) {',
    caughtBy: 'results-collected',
  },
  {
    name: 'collection-never-given-up',
    does: 'A collection that always fails goes on for good.',
    file: reconcile,
    find: 'if (now.toISOString() >= plusSeconds(settledAt, deps.timings.collectFor)) {',
    replace: "if (now.toISOString() === '') {",
    caughtBy: 'settled-and-closed',
  },
  {
    name: 'claim-does-not-move',
    does: 'A sweep claims a record without moving its openUntil.',
    file: 'lib/extraction/sweep.ts',
    find: 'lookAgain(record, plusSeconds(now, claimSeconds))',
    replace: 'lookAgain(record, record.openUntil)',
    caughtBy: 'claimed-before-looked',
  },
  {
    name: 'claim-without-a-condition',
    does: 'Two sweeps may claim the same record.',
    file: transitions,
    find: '...(record.openUntil === undefined ? {} : { openUntil: record.openUntil }),',
    replace: '',
    caughtBy: 'claimed-before-looked',
  },
  {
    name: 'lost-claim-taken-for-won',
    does: 'A sweep goes on with a record that another one has claimed.',
    file: 'lib/extraction/sweep.ts',
    find: 'return claimed.applied;',
    replace: 'return claimed.applied || true;',
    caughtBy: 'claimed-before-looked',
  },
  {
    name: 'request-not-indexed',
    does: 'A new record is not in the index, so that no sweep ever finds it.',
    file: request,
    find: '...requestedUntil(order.extractionId, requestedAt, timings),',
    replace: '',
    caughtBy: 'open-while-unfinished',
  },
  {
    name: 'timed-out-closed-at-once',
    does: 'TIMED_OUT is closed as soon as it is looked at, without grace.',
    file: reconcile,
    find: 'if (now.toISOString() >= graceOver) return close(endGrace(record, now, deps.timings), deps);',
    replace: 'if (now.toISOString() >= settledAt) return close(endGrace(record, now, deps.timings), deps);',
    caughtBy: 'late-truth-found',
  },
  {
    name: 'execution-before-record',
    does: 'The execution is started before the record is written.',
    file: request,
    find: 'const creation = await deps.extractions.create(mine);',
    replace:
      'await deps.startExecution({ extractionId: order.extractionId, request: askedFor(order.request), sealedCredentials });\n  const creation = await deps.extractions.create(mine);',
    caughtBy: 'request-kept',
  },
  {
    name: 'replay-does-not-go-on',
    does: 'A repeated request does not start the execution that the first one could not.',
    file: request,
    find: "if (record.status === 'REQUESTED' && now.toISOString() < windowEnd) {",
    replace: "if (creation.created && record.status === 'REQUESTED' && now.toISOString() < windowEnd) {",
    caughtBy: 'request-kept',
  },
  {
    name: 'fingerprint-ignored',
    does: 'Another request under the same key is taken for a repetition.',
    file: request,
    find: "if (record.fingerprint !== order.fingerprint) return { kind: 'key-reused' };",
    replace: '',
    caughtBy: 'request-kept',
  },
  {
    name: 'secret-in-the-record',
    does: 'The session token that a caller brought is recorded with the request.',
    file: request,
    find: 'fingerprint: order.fingerprint,\n    ...requestedUntil',
    replace:
      'fingerprint: order.fingerprint,\n    reference: JSON.stringify(sealedPlaintextOf(order.request)),\n    ...requestedUntil',
    caughtBy: 'nothing-sealed-shown',
  },
];
