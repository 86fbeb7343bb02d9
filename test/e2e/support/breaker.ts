import { inject } from 'vitest';
import { dynamoBreakerStore } from '../../../lib/aws/dynamo-breaker-store.ts';
import { type BreakerName, closedBreaker } from '../../../lib/breaker/breaker-state.ts';
import { aws } from './aws.ts';

const store = dynamoBreakerStore(aws.dynamo, inject('cosecha').outputs.BreakersTableName ?? '');

export const breakerState = async (name: BreakerName) => (await store.read(name)).state;

/** Closes a breaker, whatever is stored. */
export const closeBreaker = async (name: BreakerName): Promise<void> => {
  const stored = await store.read(name);
  if (stored.version !== undefined)
    await store.replace(name, stored, { state: closedBreaker, version: 'reset' });
};
