import { type InLine, laneOf, type Place, parseSlot, prefixOf } from './start-line.ts';

/** When each caller, lane and group was last served, as a count that grows with each release. It ends with the dispatcher. */
export type Served = ReadonlyMap<string, number>;

/**
 * Whether a start may go, by its breaker. `turn`: one start of the group may, and that one ignores the rate. `no`: the next turn is not free
 * yet, or starts or this caller wait.
 */
export type May = 'yes' | 'no' | 'turn';

export type Chosen = {
  /** The starts to release at the rate, in this order. */
  readonly starts: readonly InLine[];
  /** The starts to release at once, as probe turns of breakers. */
  readonly turns: readonly InLine[];
  /** How many more starts could go at a higher rate. */
  readonly left: number;
  readonly served: Served;
};

/** Above this size, groups that do not wait are forgotten. A forgotten group is served first when it returns. */
const maxServed = 2_000;

/** A group in line. It takes turns by three keys: its caller, its lane, and itself. */
type Group = { readonly keys: readonly [string, string, string]; readonly entries: InLine[] };

const keysOf = (place: Place): Group['keys'] => [place.caller, laneOf(place), prefixOf(place)];

/** Sorts the line into groups, in the order of slots. Leaves out an entry with an invalid slot, or whose time has not come. */
const groupsOf = (line: readonly InLine[], askToGo: (place: Place) => May, now: string) => {
  const groups = new Map<string, Group & { readonly may: May }>();
  const turns: InLine[] = [];
  for (const entry of line) {
    const place = parseSlot(entry.slot);
    if (place === undefined || place.at > now) continue;
    const prefix = prefixOf(place);
    const known = groups.get(prefix);
    if (known !== undefined) {
      known.entries.push(entry);
      continue;
    }
    const may = askToGo(place);
    groups.set(prefix, { keys: keysOf(place), entries: [entry], may });
    if (may === 'turn') turns.push(entry);
  }
  return { groups: [...groups.values()].filter(({ may }) => may === 'yes'), turns };
};

/** Whether one group was served before the other. Compares their callers, then their lanes, then the groups. */
const isEarlier = (one: Group, other: Group, served: Served): boolean => {
  for (const [index, key] of one.keys.entries()) {
    const difference = (served.get(key) ?? 0) - (served.get(other.keys[index] ?? '') ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
};

/**
 * Chooses the next starts to release. Callers take turns. So do the priorities of one caller, and the groups of one priority. A group
 * releases its oldest request first. So of two callers, each gets half of the rate, however many starts and groups the other one has.
 */
export const chooseNext = (
  line: readonly InLine[],
  max: number,
  before: Served,
  askToGo: (place: Place) => May,
  now: Date,
): Chosen => {
  const { groups, turns } = groupsOf(line, askToGo, now.toISOString());
  const served = new Map(before);
  let count = Math.max(0, ...served.values());
  const starts: InLine[] = [];
  let ready = groups;
  while (ready.length > 0 && starts.length < max) {
    const first = ready.reduce((least, one) => (isEarlier(one, least, served) ? one : least));
    starts.push(...first.entries.splice(0, 1));
    count += 1;
    for (const key of first.keys) served.set(key, count);
    if (first.entries.length === 0) ready = ready.filter((one) => one !== first);
  }
  const left = ready.reduce((sum, { entries }) => sum + entries.length, 0);
  if (served.size > maxServed) {
    const present = new Set(groups.flatMap(({ keys }) => keys));
    for (const key of served.keys()) if (!present.has(key)) served.delete(key);
  }
  return { starts, turns, left, served };
};
