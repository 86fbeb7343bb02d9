import type { Faults } from './planted-fault.ts';

const plan = 'lib/extraction/erase/plan-erasure.ts';
const erase = 'lib/extraction/erase/erase-extraction.ts';
const restore = 'lib/extraction/operate/restore.ts';

/** Faults of erasures, each searched in a scenario in which somebody asks to erase the extraction. */
export const erasingFaults: Faults = {
  'tombstone-without-request': {
    does: 'A restore takes a later request under the same key for the one that was erased.',
    file: restore,
    find: "[extractionId, requestId].join('/')",
    replace: '[extractionId].join(requestId)',
    caughtBy: 'later-request-copied',
    where: { scenario: 'erased-while-running', events: 1, from: 30 },
  },
  'restored-without-tombstones': {
    does: 'A restore copies what was erased.',
    file: restore,
    find: 'deps.erased.has(erasedKey(record))',
    replace: '(deps.dryRun && deps.erased.has(erasedKey(record)))',
    caughtBy: 'erased-stays-erased',
    where: 'at random',
  },
  'erased-before-the-last-writer': {
    does: 'A record is erased as soon as it is closed, while a process that read it open may still store results.',
    file: plan,
    find: "return now.toISOString() < until ? { kind: 'too-fresh', until } : { kind: 'remove' };",
    replace:
      "return now.toISOString() < record.requestedAt ? { kind: 'too-fresh', until } : { kind: 'remove' };",
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-at-once', preemptions: 1 },
  },
  'erased-by-a-clock-behind': {
    does: 'A record whose last writer had a clock that is behind is erased before a process that read it open has stored results.',
    file: plan,
    find: 'timings.startTimeout) + clocksDifferBy',
    replace: 'timings.startTimeout) + 0 * clocksDifferBy',
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-by-lagging-consumers', events: 1, preemptions: 1 },
  },
  'erased-but-its-repeats': {
    does: 'The count of repeated requests stays, with the id of what was erased.',
    file: erase,
    find: '    await removals.removeRepeats(of.extractionId);\n',
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-while-running', events: 1 },
  },
  'erased-not-published': {
    does: 'The record is left to its retention, so that the stream says expired, months later.',
    file: erase,
    find: '(await removals.removeRecord(record)) ? objects : undefined;',
    replace: '(await finish(of, record, deps)) + objects;',
    caughtBy: 'erased-leaves-nothing',
    where: { scenario: 'erased-while-running' },
  },
  'late-delivery-of-the-erased': {
    does: 'A delivery for the task of an erased extraction is counted as an orphan delivery.',
    file: 'lib/extraction/record-delivery.ts',
    find: "  if (task.isErased === true) return { kind: 'erased' };\n",
    caughtBy: 'erased-task-ignored',
    where: { scenario: 'erased-before-a-late-delivery' },
  },
  'tombstone-after-the-removal': {
    does: 'The tombstone is written once nothing is left, so that a restore in between brings the record back.',
    file: erase,
    find: '  await erasures.setRemoving(of, now().toISOString(), tombstoneExpiry(now()));\n',
    caughtBy: 'erased-once-closed',
    where: { scenario: 'erased-while-running' },
  },
  'message-after-the-tombstone': {
    does: 'A search writes the tombstone before it sends the message, and another copy of its message finishes the search.',
    file: 'lib/extraction/erase/search.ts',
    find: `  await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy);
  await deps.erasures.bury({ erasureId, extractionId, requestId });
`,
    replace: `  await deps.erasures.bury({ erasureId, extractionId, requestId });
  await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy);
`,
    caughtBy: 'erasure-ends',
    where: 'at random',
    firstSeed: 80_311,
  },
};
