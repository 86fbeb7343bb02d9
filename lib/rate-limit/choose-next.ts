import { type InLine, laneOf, parseSlot, prefixOf } from './start-line.ts';

/** When each lane, and each group in a lane, was last served. Grows with what is served; forgotten with the dispatcher. */
export type Served = ReadonlyMap<string, number>;

/** How many may be released now, whatever the rate allows. Groups may share one. */
export type Quota = { left: number };

/** What else than the rate a start waits for. `turn`: one of its group is released, whatever the rate allows. */
export type Gate = readonly Quota[] | 'turn';

export type Chosen = {
  /** In the order in which they are released, at the rate. */
  readonly next: readonly InLine[];
  /** The probe turns of breakers, at once. */
  readonly turns: readonly InLine[];
  /** How many more could go, if the rate allowed. */
  readonly left: number;
  readonly served: Served;
};

/** A lane that is forgotten is served first when it comes back. */
const maxServed = 2_000;

type Group = {
  readonly lane: string;
  readonly prefix: string;
  readonly entries: InLine[];
  readonly quotas: readonly Quota[];
};

/** Those in line by their groups, in the order of slots. What has no slot, or whose time has not come, is left out. */
const groupsOf = (line: readonly InLine[], gateOf: (entry: InLine) => Gate, now: string) => {
  const groups = new Map<string, Group>();
  const turns: InLine[] = [];
  const hasTurn = new Set<string>();
  for (const entry of line) {
    const place = parseSlot(entry.slot);
    if (place === undefined || place.at > now) continue;
    const prefix = prefixOf(place);
    const known = groups.get(prefix);
    if (known !== undefined) {
      known.entries.push(entry);
      continue;
    }
    if (hasTurn.has(prefix)) continue;
    const gate = gateOf(entry);
    if (gate === 'turn') {
      hasTurn.add(prefix);
      turns.push(entry);
    } else groups.set(prefix, { lane: laneOf(place), prefix, entries: [entry], quotas: gate });
  }
  return { groups: [...groups.values()], turns };
};

const leastServed = <One>(
  all: readonly One[],
  keyOf: (one: One) => string,
  served: Served,
): One | undefined =>
  all.reduce<One | undefined>((least, one) => {
    if (least === undefined) return one;
    return (served.get(keyOf(one)) ?? 0) < (served.get(keyOf(least)) ?? 0) ? one : least;
  }, undefined);

/**
 * Who is released next: lanes by turns, in a lane its groups by turns, in a group the oldest request first. So a crowd of one caller
 * takes half of the rate from a second one at most, whatever their numbers.
 */
export const chooseNext = (
  line: readonly InLine[],
  most: number,
  before: Served,
  gateOf: (entry: InLine) => Gate,
  now: Date,
): Chosen => {
  const { groups, turns } = groupsOf(line, gateOf, now.toISOString());
  const served = new Map(before);
  let count = Math.max(0, ...served.values());
  const next: InLine[] = [];
  const canGo = ({ entries, quotas }: Group): boolean =>
    entries.length > 0 && quotas.every(({ left }) => left > 0);
  for (;;) {
    const ready = groups.filter(canGo);
    if (ready.length === 0 || next.length >= most) break;
    const lane = leastServed(ready, (group) => group.lane, served)?.lane;
    const group = leastServed(
      ready.filter((one) => one.lane === lane),
      ({ prefix }) => prefix,
      served,
    );
    const entry = group?.entries.shift();
    if (group === undefined || entry === undefined) break;
    for (const quota of group.quotas) quota.left -= 1;
    count += 1;
    served.set(group.lane, count).set(group.prefix, count);
    next.push(entry);
  }
  const left = groups.filter(canGo).reduce((sum, { entries }) => sum + entries.length, 0);
  if (served.size > maxServed) {
    const present = new Set(groups.flatMap(({ lane, prefix }) => [lane, prefix]));
    for (const key of served.keys()) if (!present.has(key)) served.delete(key);
  }
  return { next, turns, left, served };
};
