import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Process } from '../world/process.ts';
import { lifeOf } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import type { Invariant } from './invariant.ts';

/** As in lib/extraction/record.ts. */
const mostUnfinished = 3;

/** Whether the process that began the last counted read could still run when this one started. */
const isUnderWay = ({ unfinishedReads }: Extraction, by: Process, { scenario }: World): boolean =>
  unfinishedReads !== undefined &&
  by.startedAt - Date.parse(unfinishedReads.lastBegunAt) <=
    (lifeOf.reconcile + scenario.skew + scenario.lag) * 1_000;

const mayHaveDied = ({ reads, interrupted, failedCalls }: Process): boolean =>
  reads > 0 && (interrupted || failedCalls > 0);

export const unfinishedReadsCounted: Invariant = {
  name: 'unfinished-reads-counted',
  rule: 'A read that follows a failed invocation is counted in the record before it is made, and no fourth is made, except for an operator. The record is closed unread only after three such reads.',
  needs: 'The count could be written. No counted read is under way.',
  checks: {
    row: ({ before, after, by }, { readers }, premise) => {
      const count = after.unfinishedReads;
      if (by !== undefined && count?.lastBegunAt !== before?.unfinishedReads?.lastBegunAt) {
        by.countedReads = count?.count;
      }
      if (after.collectionError !== 'read-ends-process' || before?.collectionError !== undefined)
        return undefined;
      premise();
      const died = readers.filter(mayHaveDied).length;
      return died >= mostUnfinished ? undefined : `Closed unread, but ${died} readers may have died.`;
    },
    providerRead: ({ by }, world, premise) => {
      const { countedReads, lastSeen, afterFailure, byOperator, failedCalls } = by;
      if (lastSeen?.dueShard === undefined || byOperator || failedCalls > 0) return undefined;
      if (countedReads === undefined && isUnderWay(lastSeen, by, world)) return undefined;
      const unfinished =
        countedReads === undefined ? (lastSeen.unfinishedReads?.count ?? 0) : countedReads - 1;
      if (!afterFailure && unfinished === 0) return undefined;
      premise();
      if (unfinished >= mostUnfinished) return `${by.name} reads after ${unfinished} unfinished reads.`;
      return countedReads === undefined ? `${by.name} does not count its read.` : undefined;
    },
  },
};
