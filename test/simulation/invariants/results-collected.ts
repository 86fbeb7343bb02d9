import { settings } from '../world/settings.ts';
import { providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const resultsCollected: Invariant = {
  name: 'results-collected',
  rule: 'Results that the provider still has are collected, unless every attempt within collectFor failed. That is recorded as collectionError, and not before collectFor has passed.',
  needs:
    'The record has its taskId and, if no webhook reported the outcome, the task ended before grace did.',
  checks: {
    row: ({ before, after }, world, premise) => {
      if (after.collectionError === undefined || before?.collectionError !== undefined) return undefined;
      premise();
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
      const has = record.status !== 'CREDENTIALS_WRONG' && record.status !== 'CREDENTIALS_LOCKED';
      const isThere = task !== undefined && world.kernel.now < task.forgottenAt;
      if (record.collectionError !== undefined || record.collectedAt === undefined) {
        return record.collectionError === undefined
          ? `${record.status} is closed without results or collectionError.`
          : undefined;
      }
      const must = has && isThere && (record.status === 'COMPLETED' || record.status === 'PARTIAL');
      return must && record.results === undefined ? 'Collected, but nothing is stored.' : undefined;
    },
  },
};
