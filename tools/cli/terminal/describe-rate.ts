import type { Line } from '../../../lib/extraction/api/expected-start.ts';
import type { RateByHand } from '../../../lib/shared-item/operator-settings.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';
import { callerName } from './operator-view.ts';
import { plural } from './plural.ts';

/** The rate of starts and the line, as tools show them. */
export type StartRate = Line & {
  /** What that rate is from: an operator, the setting, or what the provider was found to take. */
  readonly from: 'hand' | 'setting' | 'learnt' | 'none';
  readonly byHand?: RateByHand;
  /** False: more wait than were counted. */
  readonly isComplete?: boolean;
};

export const waitingIn = ({ lanes }: Pick<StartRate, 'lanes'>): number =>
  lanes.reduce((sum, { waiting }) => sum + waiting.length, 0);

/** `1 min 34 s (14:32:10Z)`: so long from now, and when that is. */
const describeUntil = (seconds: number, now: Date): string => {
  const at = new Date(now.getTime() + seconds * 1_000).toISOString();
  return `${formatSeconds(seconds)} (${at.slice(11, 19)}Z)`;
};

/** `188 starts wait in line, and the last one starts in about 1 min 34 s (14:32:10Z)`: what waits, and until when at this rate. */
export const describeWaiting = (rate: StartRate, now: Date): string => {
  const count = waitingIn(rate);
  const { perSecond, isPaused = false, isComplete = true } = rate;
  const waiting = `${isComplete ? '' : 'more than '}${plural(count, 'start waits', 'starts wait')} in line`;
  if (count === 0) return waiting;
  if (isPaused) return `${waiting}; starts are paused`;
  if (perSecond === undefined) return `${waiting}; no rate is known yet`;
  return `${waiting}, and the last one starts in ${isComplete ? 'about' : 'more than'} ${describeUntil(count / perSecond, now)}`;
};

/** Three digits: 0.05, 4.9, 120. */
export const formatRate = (perSecond: number): string => String(Number(perSecond.toPrecision(3)));

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
  const { lanes, from, byHand } = rate;
  return [
    describePerSecond(rate, now),
    ...(from === 'learnt' && byHand !== undefined
      ? [`${formatRate(byHand.perSecond)} were ${describeSource({ ...rate, from: 'hand' }, now)}`]
      : []),
    waitingIn(rate) === 0 ? 'no start waits' : describeWaiting(rate, now),
    ...lanes.map((lane) => `  ${lane.waiting.length} of ${callerName(lane.caller)}, ${lane.priority}`),
  ];
};

/** Prints nothing while starts have no limit and nobody waits: `health` and `list` show it beside other things. */
export const describeLine = (rate: StartRate, now: Date): readonly string[] =>
  rate.perSecond === undefined && rate.lanes.length === 0 ? [] : describeRate(rate, now);

/** A change of the rate, or one by hand, as `read-line-history.ts` reads them. */
type Change = {
  readonly judged: string;
  readonly perSecond?: number;
  readonly share?: number;
  readonly refused?: number;
  readonly failed?: number;
  readonly reason?: string;
};

/** `to 1.9: 9 % were refused`, or as a clause `the rate was cut to 1.9 a second, as 9 % were refused`. */
export const describeRateChange = (change: Change, length: 'short' | 'clause' = 'clause'): string => {
  const { judged, perSecond, share, refused = 0, failed = 0, reason } = change;
  const to = perSecond === undefined ? 'no limit' : `${formatRate(perSecond)}/s`;
  const whys: Readonly<Record<string, string>> = {
    cut:
      share === undefined
        ? 'too many were refused or failed'
        : `${Math.round(100 * share)} % ${failed > refused ? 'failed' : 'were refused'}`,
    grown: 'few were refused, and some wait',
    undone: 'the rate was not the cause',
    unlimited: 'nothing is refused any more',
    set: reason ?? 'by hand',
  };
  const why = whys[judged] ?? judged;
  return length === 'short' ? `${to}: ${why}` : `the rate became ${to}: ${why}`;
};
