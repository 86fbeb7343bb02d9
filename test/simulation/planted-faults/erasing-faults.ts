import type { Faults } from './planted-fault.ts';

const plan = 'lib/extraction/erase/plan-erasure.ts';
const erase = 'lib/extraction/erase/erase-extraction.ts';
const restore = 'lib/extraction/operate/restore.ts';

/** Faults of erasures, each searched in a scenario in which somebody asks to erase the extraction. */
export const erasingFaults: Faults = {
  'A restore takes a later request under the same key for the one that was erased.': {
    file: restore,
    find: "[extractionId, requestId].join('/')",
    replace: '[extractionId].join(requestId)',
    caughtBy: 'later-request-copied',
    where: { scenario: 'erased-while-running', events: 1, from: 30 },
  },
  'A restore copies what was erased.': {
    file: restore,
    find: 'deps.erased.has(erasedKey(record))',
    replace: '(deps.dryRun && deps.erased.has(erasedKey(record)))',
    caughtBy: 'erased-stays-erased',
    where: 'at random',
  },
  'A record is erased as soon as it is closed, while a process that read it open may still store results.': {
    file: plan,
    find: "return now.toISOString() < until ? { kind: 'too-fresh', until } : { kind: 'remove' };",
    replace:
      "return now.toISOString() < record.requestedAt ? { kind: 'too-fresh', until } : { kind: 'remove' };",
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-as-it-ends', preemptions: 1 },
  },
  'The count of repeated requests stays, with the id of what was erased.': {
    file: erase,
    find: '    await removals.removeRepeats(of.extractionId);\n',
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-while-running', events: 1 },
  },
  'The record is left to its retention, so that the stream says expired, months later.': {
    file: erase,
    find: '(await removals.removeRecord(record)) ? objects : undefined;',
    replace: '(await finish(of, record, deps)) + objects;',
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-while-running' },
  },
  'A delivery for the task of an erased extraction is counted as an orphan delivery.': {
    file: 'lib/extraction/record-delivery.ts',
    find: "  if (task.isErased === true) return { kind: 'erased' };\n",
    caughtBy: 'erased-task-ignored',
    where: { scenario: 'erased-before-a-late-delivery' },
  },
  'The tombstone is written once nothing is left, so that a restore in between brings the record back.': {
    file: erase,
    find: '  await erasures.setRemoving(of, now().toISOString(), tombstoneExpiry(now()));\n',
    caughtBy: 'erased-once-closed',
    where: { scenario: 'erased-while-running' },
  },
  'A record that is to be erased is collected like any other.': {
    file: 'lib/extraction/decide.ts',
    find: '  context.record.erasingAt !== undefined &&\n',
    replace: "  context.record.erasingAt === '' &&\n",
    caughtBy: 'erasing-stores-nothing',
    where: { scenario: 'erased-while-running' },
  },
  'A collection that was under way when the mark was set publishes its results.': {
    file: 'lib/extraction/transitions.ts',
    find: 'when: { ...unchangedSince(record), notErasing: true },',
    replace: 'when: unchangedSince(record),',
    caughtBy: 'erasing-keeps-out',
    where: { scenario: 'erased-as-it-ends', preemptions: 1, after: '22.1' },
  },
  'A TIMED_OUT is erased without a mark, so that a correction would store its results.': {
    file: plan,
    find: "phase !== 'closed' || status === 'TIMED_OUT' || status === 'UNCONFIRMED'",
    replace: "phase !== 'closed' && phase !== 'grace'",
    caughtBy: 'erasing-is-marked',
    where: { scenario: 'erased-in-grace' },
  },
  'The outcome removes the mark.': {
    file: 'lib/extraction/transitions.ts',
    find: "          'lastReadBegunAt',\n          'expiresAt',",
    replace: "          'lastReadBegunAt',\n          'erasingAt',\n          'expiresAt',",
    caughtBy: 'erasing-keeps-out',
    where: { scenario: 'erased-while-running' },
  },
  'A mark that takes effect once the record is closed brings the advice of an open one.': {
    file: 'lib/extraction/transitions.ts',
    find: '...(record.dueShard === undefined ? {} : { open: true }),',
    caughtBy: 'advice-follows',
    where: { scenario: 'seed-109421', after: '19.9,24.2,43.13,53.10,65.13', faults: 1 },
  },
  'A search writes the tombstone before it sends the message, and another copy of its message finishes the search.':
    {
      file: 'lib/extraction/erase/search.ts',
      find: `  await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy);
  await deps.erasures.bury({ erasureId, extractionId, requestId });
`,
      replace: `  await deps.erasures.bury({ erasureId, extractionId, requestId });
  await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy);
`,
      caughtBy: 'erasure-ends',
      where: { scenario: 'erased-while-running', after: '3.15,9.4' },
    },
};
