import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { readPlaces } from '../../../lib/aws/dynamo-start-line.ts';
import { parsePauses, pausesItem, readItem } from '../../../lib/breaker/breaker-store.ts';
import { defined } from '../../../lib/defined.ts';
import { lanesOf } from '../../../lib/rate-limit/expected-start.ts';
import { parseRateState, rateAt, rateItem } from '../../../lib/rate-limit/rate-state.ts';
import type { StartRate } from '../terminal/describe-rate.ts';
import type { Deployment } from './deployment.ts';
import { breakersOf } from './stores.ts';

/** The rate of starts, and which starts wait in line: one read for each 1 MB of the line. Throws the SDK's errors. */
export const readStartRate = async (deployment: Deployment, now: Date): Promise<StartRate> => {
  const breakers = breakersOf(deployment);
  const [{ state }, operator, { places }] = await Promise.all([
    readItem(breakers, rateItem, parseRateState, now),
    readItem(breakers, pausesItem, parsePauses, now),
    readPlaces(new DynamoDBClient(deployment.client), deployment.output('StartLineTableName')),
  ]);
  const byHand = operator.state.rate;
  const setting = deployment.findOutput('StartsPerSecond');
  const limit = byHand?.perSecond ?? (setting === undefined ? undefined : Number(setting));
  const perSecond = rateAt(state, limit, now.getTime());
  const source = byHand === undefined ? 'setting' : 'hand';
  const from = perSecond === undefined ? 'none' : perSecond === limit ? source : 'learnt';
  const notBefore = state.notBefore > now.getTime() ? new Date(state.notBefore).toISOString() : undefined;
  const isPaused = operator.state.starts !== undefined;
  return { lanes: lanesOf(places), from, isPaused, ...defined({ perSecond, byHand, notBefore }) };
};
