import { dueShardOf } from '#lib/extraction/due.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { type Process, wentWell } from '../world/process.ts';
import { lifeOf, settings } from '../world/settings.ts';
import type { Invariant } from './invariant.ts';
import { openStatuses, providerStatuses } from './transitions-and-outcomes.ts';

export const requestKept: Invariant = {
  name: 'request-kept',
  rule: 'A request that was answered as accepted is recorded under its fingerprint, with an execution unless it is past starting. Another request under the same key is answered as such.',
  checks: {
    executionStarted: (_fact, { record }) =>
      record === undefined ? 'An execution starts without a record.' : undefined,
    answered: ({ answer, fingerprint }, world, premise) => {
      premise();
      const { record } = world;
      const same = record?.fingerprint === fingerprint;
      if (answer === 'key-reused') return same ? 'The same request was refused as another.' : undefined;
      if (!same) return `It was ${answer}, but the record is that of another request.`;
      const mayStart = record.status === 'REQUESTED' && record.dueAt !== undefined && !world.windowOver;
      return mayStart && world.execution === undefined
        ? `It was ${answer}, but nothing will start it.`
        : undefined;
    },
  },
};

export const openWhileUnfinished: Invariant = {
  name: 'open-while-unfinished',
  rule: 'A record is in the index, with a dueAt and without an expiry, exactly while something is left to do. A closed one has no notBefore.',
  outlivesLoss: true,
  checks: {
    record: ({ before, after }, _world, premise) => {
      premise();
      const { status, dueShard, dueAt, expiresAt, notBefore, collectedAt, collectionError } = after;
      const isOpen = dueShard !== undefined;
      if (isOpen !== (dueAt !== undefined)) return 'The record has only one of dueShard and dueAt.';
      if (isOpen === (expiresAt !== undefined)) return 'An open record expires, or a closed one does not.';
      if (isOpen && dueShard !== dueShardOf(after.extractionId)) return 'The record is in the wrong shard.';
      if (!isOpen && notBefore !== undefined) return 'A closed record has a notBefore.';
      if (openStatuses.has(status)) return isOpen ? undefined : `${status} is closed.`;
      const hasCollected = collectedAt !== undefined || collectionError !== undefined;
      if (providerStatuses.has(status)) {
        if (isOpen === hasCollected) return `${status} is ${isOpen ? 'open' : 'closed'}, collected or not.`;
        if (before?.collectedAt !== undefined && after.collectedAt !== before.collectedAt) {
          return 'The record was collected twice.';
        }
        return undefined;
      }
      return isOpen && status !== 'TIMED_OUT' ? `${status} is open.` : undefined;
    },
  },
};

export const isNewer = (record: Extraction | undefined): boolean => (record?.schemaVersion ?? 1) > 1;

/** Whether a process runs reconcile-extraction. */
export const reconciles = (by: Process | undefined): by is Process =>
  by !== undefined && (by.name.startsWith('reconcile') || by.name.startsWith('consumer'));

/** A record without the attribute that a deferral changes. */
const apartFromDueAt = ({ dueAt: _, ...rest }: Extraction): string => JSON.stringify(rest);

export const newerLeftAlone: Invariant = {
  name: 'newer-left-alone',
  rule: 'A reconcile only defers a record of a newer version. It makes no read for it, and changes nothing but dueAt.',
  needs: 'The record was that of the newer version when the process read it last.',
  checks: {
    record: ({ before, after, by }, _world, premise) => {
      if (before === undefined || !isNewer(before) || !reconciles(by) || !isNewer(by.lastSeen))
        return undefined;
      premise();
      return apartFromDueAt(before) === apartFromDueAt(after)
        ? undefined
        : `${by.name} changes more than dueAt.`;
    },
    read: ({ by }) =>
      isNewer(by.lastSeen) ? `${by.name} reads the provider for the record of a newer version.` : undefined,
  },
};

/** Every secret of the simulated world starts with this. */
const sentinel = 'secret-';

export const nothingSealedShown: Invariant = {
  name: 'nothing-sealed-shown',
  rule: 'A record contains no credential, target, token or result.',
  outlivesLoss: true,
  checks: {
    record: ({ after }, _world, premise) => {
      premise();
      const text = JSON.stringify(after);
      return text.includes(sentinel) || text.includes('sealed-') ? 'A secret is in the record.' : undefined;
    },
  },
};

export const settledAndClosed: Invariant = {
  name: 'settled-and-closed',
  rule: 'In the end every extraction has an outcome and is closed, and every schedule ends.',
  needs: 'Faults stop, time passes, and the sweep runs.',
  outlivesLoss: true,
  checks: {
    end: ({ endless }, { record }, premise) => {
      if (endless) return 'The schedule does not end.';
      if (record === undefined) return undefined;
      premise();
      if (openStatuses.has(record.status)) return `It ends as ${record.status}.`;
      return record.dueShard === undefined ? undefined : `${record.status} is never closed.`;
    },
  },
};

export const resultsCollected: Invariant = {
  name: 'results-collected',
  rule: 'Results that the provider still has are collected, unless every attempt within collectFor failed. That is recorded as collectionError, and not before collectFor has passed.',
  needs:
    'The record has its taskId and, if no webhook reported the outcome, the task ended before grace did.',
  checks: {
    record: ({ before, after }, world, premise) => {
      if (after.collectionError === undefined || before?.collectionError !== undefined) return undefined;
      premise();
      if (after.collectionError === 'erased') {
        return after.erasingAt === undefined ? 'Erased, and nobody asked for that.' : undefined;
      }
      if (after.collectionError === 'results-too-large') {
        return world.scenario.task.tooLarge === true
          ? undefined
          : 'Abandoned as too large, but they were not.';
      }
      const tried = world.kernel.now - Date.parse(after.settledAt ?? after.requestedAt);
      return tried + world.scenario.skew * 1_000 >= settings.collectForSeconds * 1_000
        ? undefined
        : 'Abandoned before collectFor had passed.';
    },
    end: (_fact, world, premise) => {
      const { record } = world;
      if (record === undefined || !providerStatuses.has(record.status)) return undefined;
      premise();
      const task = world.provider.tasks.get(record.taskId ?? '');
      const isThere = task !== undefined && world.kernel.now < task.forgottenAt;
      if (record.collectionError !== undefined) return undefined;
      if (record.collectedAt === undefined) {
        return `${record.status} is closed without results or collectionError.`;
      }
      const must = isThere && (record.status === 'COMPLETED' || record.status === 'PARTIAL');
      return must && record.results === undefined ? 'Collected, but nothing is stored.' : undefined;
    },
  },
};

export const outcomeBeforeResults: Invariant = {
  name: 'outcome-before-results',
  rule: 'An outcome is recorded before its results are stored, as a bucket may hang.',
  checks: {
    storing: ({ by }, { record }, premise) => {
      if (record === undefined) return undefined;
      premise();
      return record.settledAt === undefined ? `${by.name} stores results of ${record.status}.` : undefined;
    },
  },
};

export const laggingAwaited: Invariant = {
  name: 'lagging-awaited',
  rule: 'Results that lack a part of what was requested are stored once resultsLag has passed since the outcome, and not before. The record then has results-incomplete, and otherwise not.',
  needs: 'The outcome implies results.',
  checks: {
    record: ({ before, after }, { kernel, scenario }, premise) => {
      const { status, method, results, lastProblem, settledAt = '' } = after;
      if (after.collectionError === 'results-incomplete') return 'Abandoned, although a part was there.';
      const isImplied =
        status === 'COMPLETED' || status === 'PARTIAL' || (status === 'FAILED' && method === 'credentials');
      if (!isImplied || results === undefined || before?.results !== undefined) return undefined;
      premise();
      const isIncomplete = results.key.endsWith('incomplete.json');
      if (isIncomplete !== (lastProblem === 'results-incomplete')) {
        return `${results.key} is stored with ${lastProblem}.`;
      }
      const lagged = kernel.now + scenario.skew * 1_000 - Date.parse(settledAt);
      return isIncomplete && lagged < settings.resultsLagSeconds * 1_000
        ? `Stored after ${lagged / 1_000} s without a part of what was requested.`
        : undefined;
    },
  },
};

export const oversizedOnce: Invariant = {
  name: 'oversized-once',
  rule: 'An answer over the size limit is downloaded once, and the record ends with results-too-large.',
  needs:
    'The process that downloaded it was not interrupted, none of its calls failed, and it had ended when the next one started. No other closed the record meanwhile: a closed record is left alone.',
  checks: {
    record: ({ before, after, by }) => {
      if (by !== undefined && before?.dueShard !== undefined && after.dueShard === undefined)
        by.hasClosed = true;
      return undefined;
    },
    oversized: ({ by }, world, premise) => {
      premise();
      const before = world.oversized.find(
        (earlier) =>
          by !== undefined && wentWell(earlier) && !by.alongside.has(earlier) && !earlier.alongside.has(by),
      );
      return before === undefined
        ? undefined
        : `${by?.name} downloads again what ${before.name} has downloaded.`;
    },
    end: (_fact, { record, oversized, readers }, premise) => {
      const closers = readers.filter(({ hasClosed }) => hasClosed);
      const isAlone = (by: Process): boolean =>
        closers.every((closer) => !by.alongside.has(closer) && !closer.alongside.has(by));
      const isKnown = oversized.some((by) => wentWell(by) && isAlone(by));
      if (record === undefined || openStatuses.has(record.status) || !isKnown) return undefined;
      premise();
      return record.collectionError === 'results-too-large'
        ? undefined
        : `${record.status} has no collectionError results-too-large.`;
    },
  },
};

/** Until when the task of a record is read in its status. */
const readUntil = ({ status, deadlineAt, settledAt = '' }: Extraction): number => {
  if (openStatuses.has(status)) return Date.parse(deadlineAt);
  const seconds = status === 'TIMED_OUT' ? settings.graceSeconds : settings.collectForSeconds;
  return Date.parse(settledAt) + seconds * 1_000;
};

export const lastReadOnce: Invariant = {
  name: 'last-read-once',
  rule: 'A read past the time of its status is made once the record has when the first one began, and none by a process that started more than one timeout later.',
  needs: 'The process started past this time, by the slowest clock, and could write.',
  checks: {
    providerRead: ({ by }, { scenario }, premise) => {
      const { lastSeen, failedCalls } = by;
      const startedAt = by.startedAt - scenario.lag * 1_000;
      if (lastSeen?.dueShard === undefined || failedCalls > 0 || startedAt < readUntil(lastSeen))
        return undefined;
      premise();
      const { lastReadBegunAt } = lastSeen;
      if (lastReadBegunAt === undefined) return `${by.name} reads, and the record does not keep it.`;
      return startedAt - Date.parse(lastReadBegunAt) > lifeOf.reconcile * 1_000
        ? `${by.name} reads, although the last read began at ${lastReadBegunAt}.`
        : undefined;
    },
  },
};
