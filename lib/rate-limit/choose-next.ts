import { type InLine, laneOf, type Place, parseSlot, prefixOf } from './start-line.ts';

/** When each caller, lane and group was last served. Grows with what is served; forgotten with the dispatcher. */
export type Served = ReadonlyMap<string, number>;

/** Whether a start may go, as far as its breaker lets it. `turn`: one of its group, whatever the rate allows. */
export type May = 'yes' | 'no' | 'turn';

export type Chosen = {
  /** In the order in which they are released, at the rate. */
  readonly next: readonly InLine[];
  /** The probe turns of breakers, at once. */
  readonly turns: readonly InLine[];
  /** How many more could go, if the rate allowed. */
  readonly left: number;
  readonly served: Served;
};

/** What is forgotten is served first when it comes back. */
const maxServed = 2_000;

/** The keys by which it takes turns: its caller, then his priority, then the group. */
type Group = { readonly keys: readonly [string, string, string]; readonly entries: InLine[] };

const keysOf = (place: Place): Group['keys'] => [place.caller, laneOf(place), prefixOf(place)];

/** Those in line by their groups, in the order of slots. What has no slot, or whose time has not come, is left out. */
const groupsOf = (line: readonly InLine[], mayGo: (place: Place) => May, now: string) => {
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
    const may = mayGo(place);
    groups.set(prefix, { keys: keysOf(place), entries: [entry], may });
    if (may === 'turn') turns.push(entry);
  }
  return { groups: [...groups.values()].filter(({ may }) => may === 'yes'), turns };
};

/** Whether one was served earlier than another: its caller, or, if the caller is the same, its lane, and then its group. */
const isEarlier = (one: Group, other: Group, served: Served): boolean => {
  for (const [index, key] of one.keys.entries()) {
    const difference = (served.get(key) ?? 0) - (served.get(other.keys[index] ?? '') ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
};

/**
 * Who is released next: callers by turns, then the priorities of one caller, then his groups, and in a group the oldest request first. So a
 * crowd of one caller takes half of the rate from a second one at most, whatever their numbers and names.
 */
export const chooseNext = (
  line: readonly InLine[],
  max: number,
  before: Served,
  mayGo: (place: Place) => May,
  now: Date,
): Chosen => {
  const { groups, turns } = groupsOf(line, mayGo, now.toISOString());
  const served = new Map(before);
  let count = Math.max(0, ...served.values());
  const next: InLine[] = [];
  let ready = groups;
  while (ready.length > 0 && next.length < max) {
    const first = ready.reduce((least, one) => (isEarlier(one, least, served) ? one : least));
    next.push(...first.entries.splice(0, 1));
    count += 1;
    for (const key of first.keys) served.set(key, count);
    if (first.entries.length === 0) ready = ready.filter((one) => one !== first);
  }
  const left = ready.reduce((sum, { entries }) => sum + entries.length, 0);
  if (served.size > maxServed) {
    const present = new Set(groups.flatMap(({ keys }) => keys));
    for (const key of served.keys()) if (!present.has(key)) served.delete(key);
  }
  return { next, turns, left, served };
};
