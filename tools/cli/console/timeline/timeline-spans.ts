import { defined } from '../../../../lib/defined.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { maxAlike, runsOf } from '../../explain/format-story.ts';
import type { Lane, StoryLine } from '../../explain/story.ts';
import { formatOffset } from '../format-for-page.ts';

/** In milliseconds of the epoch. */
export const timeOf = (at: string): number => new Date(at).getTime();

/** A scale shorter than this would show nothing. */
const shortestMs = 20;

/** A repeated delivery, or a read by the caller, can come long after the close. */
const mayFollowTheClose: readonly Lane[] = ['api', 'webhook', 'queue', 'operator'];

/** How long the scale is, in milliseconds: from the first line to now, or to the close of an extraction that is closed. */
export const lengthOf = (lines: readonly StoryLine[], isOpen: boolean, now: Date): number => {
  const start = timeOf(lines[0]?.at ?? now.toISOString());
  const own = lines
    .filter(({ lane, at }) => timeOf(at) <= now.getTime() && !mayFollowTheClose.includes(lane))
    .map(({ at }) => timeOf(at));
  return Math.max(shortestMs, (isOpen ? now.getTime() : Math.max(start, ...own)) - start);
};

export type SpanLook = {
  readonly kind: 'status' | 'wait' | 'try' | 'hold';
  /** From the longest wording to the shortest. The first is the title of its bar, and the first that fits is on it. */
  readonly words: readonly string[];
  readonly hasFailed?: true;
  /** How many equal tries it stands for, if there are several. */
  readonly count?: number;
  readonly index?: number;
};

/** Something that lasts, in milliseconds since the first line. */
export type Span = SpanLook & { readonly from: number; readonly to: number };

/** Each status of the record, from its own times. The last one lasts until the record was closed, or until now. */
export const statusSpans = (record: Extraction, now: Date, start: number): readonly Span[] => {
  const { requestedAt, startingAt, startedAt, settledAt, collectedAt, status, dueShard } = record;
  const steps = [
    [requestedAt, 'REQUESTED'],
    [startingAt, 'STARTING'],
    [startedAt, 'RUNNING'],
    [settledAt, status],
  ] as const;
  const known = steps.flatMap(([at, label]) => (at === undefined ? [] : [{ at: timeOf(at), label }]));
  const end =
    collectedAt === undefined ? (dueShard === undefined ? undefined : now.getTime()) : timeOf(collectedAt);
  return known.map(({ at, label }, index) => ({
    kind: 'status',
    from: at - start,
    to: Math.max(at, known[index + 1]?.at ?? end ?? at) - start,
    words: [label],
  }));
};

export type Placed = StoryLine & { readonly index: number };

/** The bars of a line: the state that it enters, or the try that it ends, and the pause until the next one. */
const spansOf = (line: Placed, start: number): readonly Span[] => {
  const { at, since, until, nextAt, does = 'wait', what, attempt, index, verdict } = line;
  const isHold = does === 'hold';
  const end = timeOf(at) - start;
  const name = attempt === undefined ? 'try' : `try ${attempt}`;
  const pause = nextAt === undefined ? 0 : timeOf(nextAt) - timeOf(at);
  const waits = `waits ${formatOffset(Math.round(pause))}`;
  const spans: Span[] = [];
  if (until !== undefined) {
    const words = isHold ? [`held: ${what}`, 'held'] : [what, what.split(/[:.]/)[0] ?? ''];
    spans.push({ kind: does, from: end, to: timeOf(until) - start, index, words });
  }
  if (since !== undefined) {
    const hasFailed = verdict === 'failed' ? true : undefined;
    const words = [`${name}: ${what}`, name];
    const from = timeOf(since) - start;
    spans.push(defined({ kind: 'try', from, to: end, index, words, hasFailed }) as Span);
  }
  if (pause > 0) {
    const words = isHold
      ? [`held, and ${waits} for the next try`, 'held']
      : [`${waits} for the next try`, waits, 'wait'];
    spans.push({ kind: does, from: end, to: end + pause, index, words });
  }
  return spans;
};

/** Equal tries in a row are one bar, as the list folds them. */
export const foldedSpans = (lines: readonly Placed[], start: number): readonly Span[] =>
  runsOf(lines).flatMap((run) => {
    const [first] = run;
    const last = run.at(-1);
    if (run.length <= maxAlike || first?.since === undefined || last === undefined) {
      return run.flatMap((line) => spansOf(line, start));
    }
    const { does = 'wait', what, index } = first;
    const count = `${run.length} times`;
    const whole: Span = {
      kind: does === 'hold' ? 'hold' : 'try',
      from: timeOf(first.since) - start,
      to: timeOf(last.at) - start,
      index,
      count: run.length,
      words: [`${count}: ${what}`, count],
    };
    return [whole, ...spansOf(last, start).filter(({ from }) => from >= whole.to)];
  });
