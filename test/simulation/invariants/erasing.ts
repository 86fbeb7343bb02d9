import type { Tombstone } from '#lib/extraction/erase/erasure.ts';
import type { World } from '../world/world.ts';
import type { Invariant } from './invariant.ts';

const tombstonesFor = ({ erasing }: World, requestId: string): readonly Tombstone[] =>
  [...erasing.tombstones.values()].filter((one) => one.requestId === requestId);

/** What is left of a request that was erased. A later one under the same id has things of its own. */
const leftOf = (world: World, { extractionId, requestId }: Tombstone): string | undefined => {
  const { extractions, requests, tasks, erasing } = world;
  const record = extractions.get(extractionId);
  if (record?.requestId === requestId) return `its record, ${record.status}`;
  if (requests.has(requestId)) return 'the item of its request';
  if (world.line.items.get(extractionId)?.requestId === requestId) return 'its place in line';
  if (!erasing.deleted.has(requestId)) return undefined;
  const isItsTask = (taskId: string) => tasks.get(taskId)?.extractionId === extractionId;
  if ([...erasing.erasedTasks].some(isItsTask)) return 'its task';
  // Once there is a later request under its id, the count is that one's.
  const isLast = [...erasing.backup.keys()].at(-1) === requestId;
  if (isLast && world.repeats.get(extractionId) === requestId) return 'the count of its repeated requests';
  return [...erasing.objects.values()].some((stored) => stored.requestId === requestId)
    ? 'its results'
    : undefined;
};

export const erasedOnceClosed: Invariant = {
  name: 'erased-once-closed',
  rule: 'A record is erased only if its erasure was asked for, and it is closed with an outcome, which is then in the stream.',
  outlivesLoss: true,
  checks: {
    removed: ({ record }, world, premise) => {
      premise();
      if (record.dueShard !== undefined || record.settledAt === undefined)
        return `It is erased while ${record.status} and open.`;
      return tombstonesFor(world, record.requestId).some(({ removingAt }) => removingAt !== undefined)
        ? undefined
        : 'It is erased without a tombstone.';
    },
  },
};

export const erasedLeavesNothing: Invariant = {
  name: 'erased-leaves-nothing',
  rule: 'Nothing of an erased extraction is left when its tombstone says so, and the record was deleted, which the stream publishes as erased.',
  needs: 'Its task and its results: the record was not lost before with its table.',
  outlivesLoss: true,
  checks: {
    tombstone: ({ before, after }, world, premise) => {
      if (after.erasedAt === undefined || before?.erasedAt !== undefined) return undefined;
      premise();
      const left = leftOf(world, after);
      return left === undefined ? undefined : `The tombstone says erased. There is ${left}.`;
    },
    end: (_fact, world) => {
      const left = [...world.erasing.tombstones.values()]
        .filter(({ erasedAt }) => erasedAt !== undefined)
        .map((one) => leftOf(world, one))
        .find((one) => one !== undefined);
      return left === undefined ? undefined : `In the end there is ${left}.`;
    },
  },
};

export const erasedStaysErased: Invariant = {
  name: 'erased-stays-erased',
  rule: 'No record of an erased request is written again, not by a restore either.',
  outlivesLoss: true,
  checks: {
    record: ({ after }, world, premise) => {
      const tombstones = tombstonesFor(world, after.requestId);
      if (tombstones.length === 0) return undefined;
      premise();
      return tombstones.some(({ erasedAt }) => erasedAt !== undefined)
        ? `A record of an erased request is ${after.status}.`
        : undefined;
    },
  },
};

export const laterRequestCopied: Invariant = {
  name: 'later-request-copied',
  rule: 'A restore leaves out what was erased, and nothing of another request under the same key.',
  outlivesLoss: true,
  checks: {
    copied: ({ record, kind }, world, premise) => {
      premise();
      return kind === 'erased' && tombstonesFor(world, record.requestId).length === 0
        ? 'A restore left out the record of another request.'
        : undefined;
    },
  },
};

export const erasingKeepsOut: Invariant = {
  name: 'erasing-keeps-out',
  rule: 'Once it is marked that a record is to be erased, the mark stays, and nothing of its results comes into the record.',
  outlivesLoss: true,
  checks: {
    record: ({ before, after }, _world, premise) => {
      if (before?.erasingAt === undefined || before.requestId !== after.requestId) return undefined;
      premise();
      if (after.erasingAt !== before.erasingAt)
        return `The mark of ${before.erasingAt} is ${after.erasingAt}.`;
      if (
        after.collectedAt !== before.collectedAt ||
        after.actionResults?.length !== before.actionResults?.length
      )
        return 'Results of a record that is to be erased were collected.';
      return undefined;
    },
    removed: ({ record }) =>
      record.erasingAt !== undefined && record.advice !== 'none'
        ? `It is erased, and its advice was ${record.advice}.`
        : undefined,
  },
};

export const erasingStoresNothing: Invariant = {
  name: 'erasing-stores-nothing',
  rule: 'A process that began after the mark stores no results.',
  needs: 'The clocks agree.',
  checks: {
    storing: ({ by }, { record, scenario }, premise) => {
      if (scenario.skew > 0 || scenario.lag > 0) return undefined;
      premise();
      if (record?.erasingAt === undefined) return undefined;
      return by.startedAt > Date.parse(record.erasingAt)
        ? `${by.name} stores results, after the mark.`
        : undefined;
    },
  },
};

export const erasingIsMarked: Invariant = {
  name: 'erasing-is-marked',
  rule: 'A record whose results may still come is marked before an erasure leaves it: nothing is stored of what is collected afterwards.',
  checks: {
    tombstone: ({ after }, world, premise) => {
      const record = world.record;
      if (after.removingAt === undefined || record?.requestId !== after.requestId) return undefined;
      premise();
      const mayReopen = record.status === 'TIMED_OUT' || record.status === 'UNCONFIRMED';
      return mayReopen && record.erasingAt === undefined
        ? `A ${record.status} is erased without a mark.`
        : undefined;
    },
  },
};

export const erasureEnds: Invariant = {
  name: 'erasure-ends',
  rule: 'Every erasure that was asked for ends.',
  needs: 'No message is a dead letter, and the search found the record.',
  outlivesLoss: true,
  checks: {
    end: ({ endless }, { erasing }, premise) => {
      if (endless || erasing.erasures.size === 0 || erasing.deadLetters > 0) return undefined;
      premise();
      if ([...erasing.erasures.values()].some(({ searchedAt }) => searchedAt === undefined))
        return 'A search did not end.';
      const open = [...erasing.tombstones.values()].find(({ erasedAt }) => erasedAt === undefined);
      return open === undefined ? undefined : 'A record that was to be erased is not.';
    },
  },
};

export const erasedTaskIgnored: Invariant = {
  name: 'erased-task-ignored',
  rule: 'A delivery for the task of an erased extraction raises no alarm and stores nothing.',
  outlivesLoss: true,
  checks: {
    alarmed: ({ metric, taskId }, { erasing }, premise) => {
      premise();
      return erasing.erasedTasks.has(taskId) ? `${metric} was counted for an erased task.` : undefined;
    },
    taskItem: ({ before, after }) =>
      before?.isErased === true && after.taskStatus !== undefined && after.extractionId === undefined
        ? 'The item of an erased task has a status.'
        : undefined,
  },
};
