import type { RateByHand } from '../../../lib/breaker/breaker-store.ts';
import type { Place } from '../../../lib/rate-limit/start-line.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';
import { callerName } from './operator-view.ts';

/** Who waits of one caller and priority, the oldest request first. */
export type LineLane = Pick<Place, 'caller' | 'priority'> & { readonly waiting: readonly Place[] };

/** The rate of starts and the line, as tools show them. */
export type StartRate = {
  readonly lanes: readonly LineLane[];
  /** Starts a second that are made now. Absent: there is no limit. */
  readonly perSecond?: number;
  /** What that rate is from: an operator, the setting, or what the provider was found to take. */
  readonly from: 'hand' | 'setting' | 'learnt' | 'none';
  readonly byHand?: RateByHand;
  /** The provider asked for no start before, as an ISO time. */
  readonly notBefore?: string;
};

export const waitingIn = ({ lanes }: Pick<StartRate, 'lanes'>): number =>
  lanes.reduce((sum, { waiting }) => sum + waiting.length, 0);

/**
 * How many starts are made before this one, as lanes share the rate by turns: of each other lane no more than stand before it in its
 * own. Undefined if it does not wait.
 */
export const startsBefore = (lanes: readonly LineLane[], extractionId: string): number | undefined => {
  const own = lanes.find(({ waiting }) => waiting.some((one) => one.extractionId === extractionId));
  if (own === undefined) return undefined;
  const place = own.waiting.findIndex((one) => one.extractionId === extractionId);
  const others = lanes.filter((lane) => lane !== own);
  return others.reduce((sum, { waiting }) => sum + Math.min(waiting.length, place + 1), place);
};

/** Three digits: 0.05, 4.9, 120. */
const formatRate = (perSecond: number): string => String(Number(perSecond.toPrecision(3)));

const describeSource = ({ from, byHand }: StartRate, now: Date): string => {
  if (from === 'learnt') return 'as the provider was found to take';
  if (from === 'setting') return 'as startsPerSecond says';
  if (byHand === undefined) return '';
  const { since, by, reason } = byHand;
  const who = by === undefined ? '' : ` by ${callerName(by)}`;
  return `set${who} ${formatSeconds(secondsSince(new Date(since).toISOString(), now))} ago: ${reason}`;
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

/** When a start that waits will be made, as far as the rate is known. Undefined if it does not wait, or there is no rate. */
export const expectedStartAt = (rate: StartRate, extractionId: string, now: Date): string | undefined => {
  const before = startsBefore(rate.lanes, extractionId);
  if (before === undefined || rate.perSecond === undefined) return undefined;
  const from = Math.max(now.getTime(), Date.parse(rate.notBefore ?? now.toISOString()));
  return new Date(from + ((before + 1) * 1_000) / rate.perSecond).toISOString();
};
