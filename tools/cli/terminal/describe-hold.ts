import type { Turn } from '../../../lib/breaker/breaker-state.ts';
import { parseBreakerState } from '../../../lib/breaker/stored-breaker.ts';
import { defined } from '../../../lib/defined.ts';
import { breakerSubjectOf, type Extraction } from '../../../lib/extraction/record.ts';
import { permitItem } from '../../../lib/rate-limit/permit.ts';
import { rateItem } from '../../../lib/rate-limit/rate-state.ts';
import {
  type PausableCalls,
  parsePauses,
  pausableCalls,
  pausesItem,
} from '../../../lib/shared-item/operator-settings.ts';
import type { StoredItem } from '../../../lib/shared-item/shared-item.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';
import { callerName } from './operator-view.ts';

/** What holds calls to the provider: an operator's pause, or an open breaker of starts. Times are ISO 8601. */
export type Hold =
  | {
      readonly kind: 'paused';
      readonly calls: PausableCalls;
      readonly since: string;
      readonly reason: string;
      /** ARN of the operator. */
      readonly by?: string;
    }
  | {
      readonly kind: 'open';
      readonly calls: 'starts';
      /** ARN of the caller whose starts it holds. */
      readonly caller: string;
      /** Its entity or product. Absent for the breaker over all of them. */
      readonly group?: string;
      readonly since: string;
      /** When the next start may be made. Absent while one is made. */
      readonly nextTurnAt?: string;
      /** The last failure, as a status or a code. */
      readonly cause?: string;
    };

/** The last time that `Date` has. A damaged item may have any number. */
const lastTime = 8.64e15;

const isoOf = (time: number): string => new Date(Math.max(0, Math.min(time, lastTime))).toISOString();

const pausesIn = (stored: unknown, now: number): readonly Hold[] => {
  const { state } = parsePauses(stored, now);
  return pausableCalls.flatMap((calls) => {
    const pause = state[calls];
    return pause === undefined ? [] : [{ kind: 'paused', calls, ...pause, since: isoOf(pause.since) }];
  });
};

type Opened = { readonly since: number; readonly cause?: string | undefined };

const openFor = (caller: string, stored: unknown, now: number): readonly Hold[] => {
  const { opened, groups } = parseBreakerState(stored, now).state;
  const hold = ({ since, cause }: Opened, turns: readonly Turn[], group?: string): Hold => {
    const free = turns.flatMap(({ at, holder }) => (holder === undefined || at <= now ? [at] : []));
    const nextTurnAt = free.length === 0 ? undefined : isoOf(Math.min(...free));
    const known = defined({ group, nextTurnAt, cause });
    return { kind: 'open', calls: 'starts', caller, since: isoOf(since), ...known };
  };
  return [
    ...(opened === undefined ? [] : [hold(opened, [opened.failing, opened.others])]),
    ...groups.flatMap(({ name, opened: own }) => (own === undefined ? [] : [hold(own, [own.turn], name)])),
  ];
};

/** How many extractions a hold can concern: the fewer, the later it is shown. */
const rankOf = (hold: Hold): number => (hold.kind === 'paused' ? 0 : hold.group === undefined ? 1 : 2);

/** What the items of the table `Breakers` hold now: pauses, then callers, then entities, and of each the longest held first. */
export const holdsIn = (items: ReadonlyMap<string, StoredItem>, now: Date): readonly Hold[] =>
  [...items]
    .filter(([name]) => name !== rateItem && name !== permitItem)
    .flatMap(([name, { state }]) =>
      name === pausesItem ? pausesIn(state, now.getTime()) : openFor(name, state, now.getTime()),
    )
    .toSorted((one, other) => rankOf(one) - rankOf(other) || one.since.localeCompare(other.since));

/** What keeps an open extraction from its next call to the provider. A claimed start is already made. */
export const holdOf = (record: Extraction, holds: readonly Hold[]): Hold | undefined => {
  if (record.dueShard === undefined || record.status === 'STARTING') return undefined;
  const calls = record.status === 'REQUESTED' ? 'starts' : 'reads';
  const about = breakerSubjectOf(record);
  return holds.find(
    (hold) =>
      hold.calls === calls &&
      (hold.kind === 'paused' ||
        (hold.caller === about.caller && (hold.group === undefined || hold.group === about.group))),
  );
};

/**
 * What failed at the provider, as a clause: `the provider answers 503`. `cause` is that of an open breaker. What is not known is
 * not said.
 */
const describeCause = (cause: string | undefined): string => {
  const [, status] = /^http-(\d{3})$/.exec(cause ?? '') ?? [];
  if (status !== undefined) return `the provider answers ${status}`;
  if (cause === 'slow') return 'the provider takes too long to answer';
  return cause === undefined ? 'calls to the provider fail' : `calls to the provider fail with ${cause}`;
};

/** The calls that are held: `reads`, `starts of orders for demo-bank`. */
export const describeHeld = (hold: Hold): string =>
  hold.kind === 'paused'
    ? hold.calls
    : `starts of ${callerName(hold.caller)} for ${hold.group ?? 'all entities'}`;

/** What a hold does now, as the parts of a clause. `since` shows `for 5 min` or `since 12:00:00Z`, and `next` when a turn is. */
export const describeHold = <Shown>(
  hold: Hold,
  { since, next }: { readonly since: (at: string) => Shown; readonly next: (at: string) => Shown },
): readonly (string | Shown)[] => {
  const held = describeHeld(hold);
  if (hold.kind === 'paused') {
    const by = hold.by === undefined ? '' : ` by ${callerName(hold.by)}`;
    return [`${held} have been paused `, since(hold.since), `${by}: ${hold.reason}`];
  }
  const { nextTurnAt, cause } = hold;
  const turn = nextTurnAt === undefined ? ['a start is tried now'] : ['next turn ', next(nextTurnAt)];
  return [`${held} have been held `, since(hold.since), `, as ${describeCause(cause)}; `, ...turn];
};

const maxLines = 5;

/** A line for each hold. In a fleet with many, the last line counts the rest. */
export const describeHolds = (holds: readonly Hold[], now: Date): readonly string[] => {
  const since = (at: string): string => `for ${formatSeconds(secondsSince(at, now))}`;
  const next = (at: string): string =>
    at <= now.toISOString() ? 'now' : `in ${formatSeconds(-secondsSince(at, now))}`;
  const lines = holds.slice(0, maxLines).map((hold) => describeHold(hold, { since, next }).join(''));
  return holds.length > maxLines ? [...lines, `${holds.length - maxLines} more are held`] : lines;
};
