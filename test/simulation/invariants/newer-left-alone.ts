import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Process } from '../world/process.ts';
import type { Invariant } from './invariant.ts';

const isNewer = (record: Extraction | undefined): boolean => (record?.schemaVersion ?? 1) > 1;

const reconciles = (by: Process | undefined): by is Process =>
  by !== undefined && (by.name.startsWith('reconcile') || by.name.startsWith('consumer'));

/** A record without the attribute that a deferral changes. */
const apartFromDueAt = ({ dueAt: _, ...rest }: Extraction): string => JSON.stringify(rest);

export const newerLeftAlone: Invariant = {
  name: 'newer-left-alone',
  rule: 'A reconcile only defers a record of a newer version. It makes no read for it, and changes nothing but dueAt.',
  needs: 'The record was that of the newer version when the process read it last.',
  checks: {
    row: ({ before, after, by }, _world, premise) => {
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
