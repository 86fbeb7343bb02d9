import { inject } from 'vitest';
import { dynamoBreakerStore } from '../../../lib/aws/dynamo-breaker-store.ts';
import { type BreakerName, closedBreaker } from '../../../lib/breaker/breaker-state.ts';
import { readBreaker } from '../../../lib/breaker/breaker-store.ts';
import { aws } from './aws.ts';

const store = dynamoBreakerStore(aws.dynamo, inject('cosecha').outputs.BreakersTableName ?? '');

export const breakerState = async (name: BreakerName) => (await readBreaker(store, name, new Date())).state;

/** Closes a breaker, whatever is stored. */
export const closeBreaker = async (name: BreakerName): Promise<void> => {
  const { version } = await readBreaker(store, name, new Date());
  if (version !== undefined) await store.replace(name, version, { state: closedBreaker, version: 'reset' });
};
