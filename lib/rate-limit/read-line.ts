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

/** How many queries of the index a tick makes, and how many of one lane. So the lane of no caller keeps others from being seen. */
const maxQueries = 40;
const maxOfLane = 8;
/** At a low rate, a query still reads some groups. */
const minPage = 20;
/** Some 600 KB. A query reads 1 MB. */
const maxPage = 600;

/** Where the next tick goes on: in the whole index, and in a lane of which not all was read. */
export type Cursors = { readonly after: string; readonly inLanes: ReadonlyMap<string, string> };

export const fromTheBeginning: Cursors = { after: '', inLanes: new Map() };

/** A slot that nobody wrote is passed over. */
const nowhere: Place = { caller: '', priority: 'interactive', group: '', at: '', extractionId: '' };

/**
 * Reads who waits, from lane to lane and in a lane from group to group, as far as it could be released now. A lane with more groups than
 * its pages show is read from its beginning, and then from where the last tick stopped. Throws what the store throws.
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
    // A group that fills a page has more than can be released.
    const isFull = found.every(({ slot }) => slot.startsWith(prefix));
    const position = place === nowhere || !isFull ? last.slot : endOf(prefix);
    const known = goOn.get(lane);
    goOn.delete(lane);
    if (pages >= maxOfLane) {
      // The last group is read from its beginning, so that its oldest start is the first again.
      goOn.set(lane, isFull ? position : prefix);
      after = endOfLane(lane);
    } else after = known !== undefined && known > position ? known : position;
  }
  return { waiting: [...waiting.values()], cursors: { after, inLanes: goOn } };
};
