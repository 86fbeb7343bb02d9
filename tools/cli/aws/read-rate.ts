import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { inLineIndex } from '../../../lib/aws/dynamo-start-line.ts';
import { parsePauses, pausesItem, readItem } from '../../../lib/breaker/breaker-store.ts';
import { defined } from '../../../lib/defined.ts';
import type { LineLane } from '../../../lib/rate-limit/expected-start.ts';
import { parseRateState, rateAt, rateItem } from '../../../lib/rate-limit/rate-state.ts';
import { laneOf, type Place, parseSlot } from '../../../lib/rate-limit/start-line.ts';
import type { StartRate } from '../terminal/describe-rate.ts';
import type { Deployment } from './deployment.ts';
import { breakersOf } from './stores.ts';

/** Who waits, by lanes. In the index they are by entity, too. */
const readLanes = async ({ client, output }: Deployment): Promise<readonly LineLane[]> => {
  const lanes = new Map<string, Pick<LineLane, 'caller' | 'priority'> & { readonly waiting: Place[] }>();
  const pages = paginateQuery(
    { client: new DynamoDBClient(client) },
    { ...inLineIndex(output('StartLineTableName')), ProjectionExpression: 'slot' },
  );
  for await (const { Items = [] } of pages) {
    for (const { slot } of Items) {
      const place = parseSlot(slot?.S ?? '');
      if (place === undefined) continue;
      const { caller, priority } = place;
      const lane = lanes.get(laneOf(place)) ?? { caller, priority, waiting: [] };
      lane.waiting.push(place);
      lanes.set(laneOf(place), lane);
    }
  }
  for (const { waiting } of lanes.values())
    waiting.sort((one, other) => one.requestedAt.localeCompare(other.requestedAt));
  return [...lanes.values()];
};

/** The rate of starts, and who waits for it: one read for each 1 MB of the line. Throws the SDK's errors. */
export const readStartRate = async (deployment: Deployment, now: Date): Promise<StartRate> => {
  const breakers = breakersOf(deployment);
  const [{ state }, operator, lanes] = await Promise.all([
    readItem(breakers, rateItem, parseRateState, now),
    readItem(breakers, pausesItem, parsePauses, now),
    readLanes(deployment),
  ]);
  const byHand = operator.state.rate;
  const setting = deployment.findOutput('StartsPerSecond');
  const limit = byHand?.perSecond ?? (setting === undefined ? undefined : Number(setting));
  const perSecond = rateAt(state, limit, now.getTime());
  const source = byHand === undefined ? 'setting' : 'hand';
  const from = perSecond === undefined ? 'none' : perSecond === limit ? source : 'learnt';
  const notBefore = state.notBefore > now.getTime() ? new Date(state.notBefore).toISOString() : undefined;
  return { lanes, from, ...defined({ perSecond, byHand, notBefore }) };
};
