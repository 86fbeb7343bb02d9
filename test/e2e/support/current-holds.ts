import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { dynamoBreakerStore, listBreakers } from '#lib/aws/dynamo-breaker-store.ts';
import { pausableCalls } from '#lib/shared-item/operator-settings.ts';
import { readHolds } from '../../../tools/cli/aws/stores.ts';
import { resumeCalls } from '../../../tools/cli/operate/change-holds.ts';
import type { Hold } from '../../../tools/cli/terminal/describe-hold.ts';
import { aws } from './aws.ts';

const { BreakersTableName: table = '' } = inject('cosecha').outputs;
const breakers = {
  ...dynamoBreakerStore(aws.dynamo, table),
  list: () => listBreakers(aws.dynamo, table),
};

/** What holds calls to the provider now. */
export const currentHolds = (): Promise<readonly Hold[]> => readHolds(breakers, new Date());

/** Lets all calls pass, whatever is stored. */
export const letCallsPass = async (): Promise<void> => {
  const deps = { now: () => new Date(), newVersion: randomUUID };
  for (const calls of pausableCalls) await resumeCalls(breakers, calls, deps);
};
