import { isDeepStrictEqual } from 'node:util';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { adviceOf } from '#lib/extraction/advice.ts';
import { type Extraction, isUnderstood } from '#lib/extraction/record.ts';
import { streamRecord } from '../../unit/lib/downstream/stream-records.ts';
import type { Invariant } from './invariant.ts';

export const adviceFollows: Invariant = {
  name: 'advice-follows',
  rule: 'Each record has the advice that follows from it, and none without an outcome.',
  checks: {
    record: ({ after }, _world, premise) => {
      if (!isUnderstood(after)) return undefined;
      if (after.settledAt !== undefined) premise();
      const advice = after.settledAt === undefined ? undefined : adviceOf(after);
      // A process may have read it before somebody asked to have it erased. The erasure then corrects the advice.
      if (after.erasingAt !== undefined && after.advice === adviceOf({ ...after, erasingAt: undefined }))
        return undefined;
      return after.advice === advice ? undefined : `${after.status} has ${after.advice} and not ${advice}.`;
    },
  },
};

export const noRepeatBesideATask: Invariant = {
  name: 'no-repeat-beside-a-task',
  rule: 'An extraction is to be requested again only if no task of it may run.',
  checks: {
    record: ({ after }, { provider, kernel }, premise) => {
      if (after.advice !== 'request-again' && after.advice !== 'request-later') return undefined;
      premise();
      const tasks = [...provider.tasks.values()].filter((task) => task.extractionId === after.extractionId);
      return tasks.some(({ endsAt }) => kernel.now < endsAt)
        ? `${after.status} is to be requested again, while a task runs.`
        : undefined;
    },
  },
};

export const problemIsOfLastTry: Invariant = {
  name: 'problem-is-of-last-try',
  rule: 'NOT_STARTED after a start call has a cause, and RUNNING has none of its start.',
  checks: {
    record: ({ before, after }, _world, premise) => {
      if (after.status === 'RUNNING' && before?.status === 'STARTING' && after.lastProblem !== undefined) {
        return `RUNNING has ${after.lastProblem}.`;
      }
      const ends = after.status === 'NOT_STARTED' && before?.status !== after.status;
      if (!ends || after.attemptId === undefined) return undefined;
      premise();
      // A start call was made, and its refusal is the last thing that was written.
      return after.lastProblem === undefined ? 'NOT_STARTED, and nobody knows why.' : undefined;
    },
  },
};

const costsNoWrite: ReadonlySet<string> = new Set(['lastProblem', 'advice']);

const changedIn = (before: Extraction, after: Extraction): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name as keyof Extraction], after[name as keyof Extraction]),
  );

/** What consumers do not act on: the attributes that docs/stream.md calls internal, the retention, and why a try brought nothing. */
const notActedOn: ReadonlySet<string> = new Set([
  'dueAt',
  'dueShard',
  'expiresAt',
  'fingerprint',
  'lastProblem',
  'lastReadBegunAt',
  'notBefore',
  'oversizedAt',
  'readsSlowly',
  'requestId',
  'withoutWebhook',
]);

export const changeIsPublished: Invariant = {
  name: 'change-is-published',
  rule: 'A change of what consumers act on is an event that they act on, and never housekeeping.',
  checks: {
    record: ({ before, after }, _world, premise) => {
      if (before === undefined || !isUnderstood(before) || !isUnderstood(after)) return undefined;
      if (before.status !== after.status) return undefined;
      const changed = changedIn(before, after).filter((name) => !notActedOn.has(name));
      if (changed.length === 0) return undefined;
      premise();
      const { kind } = decodeExtractionEvent(streamRecord({ old: before, new: after }));
      return kind === 'housekeeping'
        ? `${after.status} changes ${changed.join(' and ')}, as housekeeping.`
        : undefined;
    },
  },
};

export const causeCostsNoWrite: Invariant = {
  name: 'cause-costs-no-write',
  rule: 'Why the last try brought nothing, and what to do next, are written with something else only. So an outage writes no more than it did without them.',
  needs: 'The process of the write still waits for it. A delayed copy may find all else as it writes it.',
  checks: {
    record: ({ before, after, by }, _world, premise) => {
      if (by === undefined) return undefined;
      const changed = before === undefined ? [] : changedIn(before, after);
      if (changed.includes('lastProblem')) premise();
      return changed.length > 0 &&
        after.erasingAt === undefined &&
        changed.every((name) => costsNoWrite.has(name))
        ? `A write changes ${changed.join(' and ')} alone.`
        : undefined;
    },
  },
};
