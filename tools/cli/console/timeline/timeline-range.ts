import type { Lane, StoryLine } from '../../explain/story.ts';

/** A part of a story's time, in milliseconds since its first line. */
export type Range = { readonly from: number; readonly to: number };

/** A range shorter than this shows nothing more. */
export const shortestMs = 20;

/** In milliseconds of the epoch. */
export const timeOf = (at: string): number => new Date(at).getTime();

/** A repeated delivery, or a read by the caller, can come long after the close. */
const mayFollowTheClose: readonly Lane[] = ['api', 'webhook', 'queue', 'operator'];

/** From the first line to now, or to the close of an extraction that is closed. */
export const wholeRange = (lines: readonly StoryLine[], isOpen: boolean, now: Date): Range => {
  const start = timeOf(lines[0]?.at ?? now.toISOString());
  const own = lines.filter(
    ({ lane, at }) => timeOf(at) <= now.getTime() && !mayFollowTheClose.includes(lane),
  );
  const end = isOpen ? now.getTime() : Math.max(start, ...own.map(({ at }) => timeOf(at)));
  return { from: 0, to: Math.max(shortestMs, end - start) };
};

export const rangeIn = (query: URLSearchParams, whole: Range): Range => {
  const numberIn = (name: string): number => Number(query.get(name) ?? Number.NaN);
  const from = Math.max(whole.from, Math.round(numberIn('from')));
  const to = Math.min(whole.to, Math.round(numberIn('to')));
  return to - from >= shortestMs ? { from, to } : whole;
};

/** A range around these times, with a margin, inside another. */
export const around = (times: readonly number[], { from, to }: Range): Range => {
  const first = Math.min(...times);
  const last = Math.max(...times);
  const margin = Math.max(shortestMs / 2, (last - first) / 10);
  return { from: Math.max(from, Math.floor(first - margin)), to: Math.min(to, Math.ceil(last + margin)) };
};

type Zoom = { readonly range: Range; readonly events: number };

/** Where events are close together: parts of the range that a pause of a tenth of it separates. */
export const zoomsOf = (lines: readonly StoryLine[], range: Range, whole: Range): readonly Zoom[] => {
  const start = timeOf(lines[0]?.at ?? '');
  const times = lines.map(({ at }) => timeOf(at) - start).filter((at) => at >= range.from && at <= range.to);
  const width = range.to - range.from;
  const bursts: number[][] = [];
  for (const at of times) {
    const last = bursts.at(-1)?.at(-1);
    if (last === undefined || at - last > width / 10) bursts.push([at]);
    else bursts.at(-1)?.push(at);
  }
  return bursts
    .map((burst) => ({ range: around(burst, whole), events: burst.length }))
    .filter(({ range: { from, to }, events }) => events > 1 && to - from < width / 2);
};
