import type { RateByHand } from '../../../lib/breaker/breaker-store.ts';
import type { Line } from '../../../lib/rate-limit/expected-start.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';
import { callerName } from './operator-view.ts';

/** The rate of starts and the line, as tools show them. */
export type StartRate = Line & {
  /** What that rate is from: an operator, the setting, or what the provider was found to take. */
  readonly from: 'hand' | 'setting' | 'learnt' | 'none';
  readonly byHand?: RateByHand;
};

export const waitingIn = ({ lanes }: Pick<StartRate, 'lanes'>): number =>
  lanes.reduce((sum, { waiting }) => sum + waiting.length, 0);

/** Three digits: 0.05, 4.9, 120. */
const formatRate = (perSecond: number): string => String(Number(perSecond.toPrecision(3)));

const describeSource = ({ from, byHand }: StartRate, now: Date): string => {
  if (from === 'learnt') return 'as the provider was found to take';
  if (from === 'setting') return 'as startsPerSecond says';
  if (byHand === undefined) return '';
  const { since, by, reason } = byHand;
  const setter = by === undefined ? '' : ` by ${callerName(by)}`;
  return `set${setter} ${formatSeconds(secondsSince(new Date(since).toISOString(), now))} ago: ${reason}`;
};

const describePerSecond = (rate: StartRate, now: Date): string => {
  const { perSecond } = rate;
  if (perSecond === undefined) return 'starts have no limit until the provider answers 429';
  return `${formatRate(perSecond)} starts a second are made, ${describeSource(rate, now)}`;
};

/** The rate, how many wait and until when, and each lane. A rate by hand that is not reached is named as well. */
export const describeRate = (rate: StartRate, now: Date): readonly string[] => {
  const { lanes, perSecond, from, byHand, notBefore } = rate;
  const waiting = waitingIn(rate);
  const until = perSecond === undefined ? '' : `, the last of them for ${formatSeconds(waiting / perSecond)}`;
  return [
    describePerSecond(rate, now),
    ...(from === 'learnt' && byHand !== undefined
      ? [`${formatRate(byHand.perSecond)} were ${describeSource({ ...rate, from: 'hand' }, now)}`]
      : []),
    ...(notBefore === undefined ? [] : [`the provider asked for no start before ${notBefore}`]),
    waiting === 0 ? 'no start waits' : `${waiting} starts wait${until}`,
    ...lanes.map((lane) => `  ${lane.waiting.length} of ${callerName(lane.caller)}, ${lane.priority}`),
  ];
};

/** Prints nothing while starts have no limit and nobody waits: `health` and `list` show it beside other things. */
export const describeLine = (rate: StartRate, now: Date): readonly string[] =>
  rate.perSecond === undefined && rate.lanes.length === 0 ? [] : describeRate(rate, now);
