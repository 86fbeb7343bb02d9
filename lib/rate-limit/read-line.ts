import {
  endOf,
  endOfLane,
  type InLine,
  laneOf,
  type Place,
  parseSlot,
  prefixOf,
  type StartLineStore,
} from './start-line.ts';

/** The most queries of the index in one tick, and in one lane. So no caller's lane keeps the others from being read. */
const maxQueries = 40;
const maxOfLane = 8;
/** At a low rate, a page is at least this long, so that a query reads several groups. */
const minPage = 20;
/** Some 600 KB. A query returns 1 MB at most. */
const maxPage = 600;

/** Where the next tick continues: in the index, and in each lane of which only a part was read. */
export type Cursors = { readonly after: string; readonly inLanes: ReadonlyMap<string, string> };

export const fromTheBeginning: Cursors = { after: '', inLanes: new Map() };

/** The place of an invalid slot. Reading continues after it. */
const nowhere: Place = { caller: '', priority: 'interactive', group: '', at: '', extractionId: '' };

/**
 * Reads the starts in line, lane by lane and group by group, as far as they could be released now. A lane with too many groups is read from
 * its beginning, and then from where the last tick stopped. Throws what the store throws.
 *
 * @param wanted how many could be released now
 */
export const readLine = async (
  next: StartLineStore['next'],
  { after: begin, inLanes }: Cursors,
  wanted: number,
): Promise<{ readonly waiting: readonly InLine[]; readonly cursors: Cursors }> => {
  const page = Math.max(minPage, Math.min(wanted + 1, maxPage));
  const waiting = new Map<string, InLine>();
  const goOn = new Map(inLanes);
  const pagesOf = new Map<string, number>();
  let after = begin;
  for (let queries = 0; queries < maxQueries; queries += 1) {
    const found = await next(after, page);
    for (const entry of found) waiting.set(entry.callbackToken, entry);
    const last = found.at(-1);
    if (last === undefined || found.length < page) {
      return { waiting: [...waiting.values()], cursors: { after: '', inLanes: goOn } };
    }
    const place = parseSlot(last.slot) ?? nowhere;
    const [lane, prefix] = [laneOf(place), prefixOf(place)];
    const pages = (pagesOf.get(lane) ?? 0) + 1;
    pagesOf.set(lane, pages);
    // If one group fills a page, it has more starts than can be released. The rest of it is skipped.
    const isFull = found.every(({ slot }) => slot.startsWith(prefix));
    const position = place === nowhere || !isFull ? last.slot : endOf(prefix);
    const known = goOn.get(lane);
    goOn.delete(lane);
    if (pages >= maxOfLane) {
      // The next tick reads the last group from its beginning, so that the group's oldest start comes first again.
      goOn.set(lane, isFull ? position : prefix);
      after = endOfLane(lane);
    } else after = known !== undefined && known > position ? known : position;
  }
  return { waiting: [...waiting.values()], cursors: { after, inLanes: goOn } };
};
