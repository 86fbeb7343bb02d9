import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { readPlaces } from '../../../lib/aws/dynamo-start-line.ts';
import { defined } from '../../../lib/defined.ts';
import { lanesOf } from '../../../lib/extraction/api/expected-start.ts';
import { parseRateState, rateAt, rateItem } from '../../../lib/rate-limit/rate-state.ts';
import { parsePauses, pausesItem } from '../../../lib/shared-item/operator-settings.ts';
import { readItem } from '../../../lib/shared-item/shared-item.ts';
import type { StartRate } from '../terminal/describe-rate.ts';
import type { Deployment } from './deployment.ts';
import { breakersOf } from './stores.ts';

/** Some 900 places each. Who waits is counted up to 10,000, as the reads take the index from who releases them. */
const maxPages = 12;

/** The rate of starts, and which starts wait in line: one read for each 1 MB of the line. Throws the SDK's errors. */
export const readStartRate = async (deployment: Deployment, now: Date): Promise<StartRate> => {
  const breakers = breakersOf(deployment);
  const [{ state }, operator, { places, isComplete }] = await Promise.all([
    readItem(breakers, rateItem, parseRateState, now),
    readItem(breakers, pausesItem, parsePauses, now),
    readPlaces(new DynamoDBClient(deployment.client), deployment.output('StartLineTableName'), maxPages),
  ]);
  const byHand = operator.state.rate;
  const setting = deployment.findOutput('StartsPerSecond');
  const limit = byHand?.perSecond ?? (setting === undefined ? undefined : Number(setting));
  const perSecond = rateAt(state, limit, now.getTime());
  const source = byHand === undefined ? 'setting' : 'hand';
  const from = perSecond === undefined ? 'none' : perSecond === limit ? source : 'learnt';
  const isPaused = operator.state.starts !== undefined;
  return { lanes: lanesOf(places), isComplete, from, isPaused, ...defined({ perSecond, byHand }) };
};
