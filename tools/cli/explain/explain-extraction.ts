import { defined } from '../../../lib/defined.ts';
import { holdOf } from '../terminal/describe-hold.ts';
import { bounded } from './bounded-text.ts';
import { executionLines } from './execution-lines.ts';
import { type Asked, gather, type Known } from './gather.ts';
import { headlineOf } from './headline.ts';
import { logLines } from './log-lines.ts';
import { isUncertain } from './outcome-facts.ts';
import { recordLines } from './record-lines.ts';
import { sentenceOfHold } from './sentences.ts';
import type { StorySources } from './sources.ts';
import type { StoryLine } from './story.ts';

/** More lines than a history of any default settings has, which is some 600 events. */
const maxLines = 2_000;

/** In characters. The longest headline of Cosecha's own words has half of them. */
const maxHeadline = 1_000;

const taskLines = ({ task }: Known): readonly StoryLine[] => {
  if (task?.notifiedAt === undefined) return [];
  const what = bounded(`Stored the first delivery for task ${task.taskId}: ${task.taskStatus}.`);
  return [{ at: task.notifiedAt, lane: 'webhook', source: 'receive-webhook', what, verdict: 'ok' }];
};

/** What holds this extraction. What holds only others is no part of its story. */
const holdLines = ({ holds, record, now }: Known): readonly StoryLine[] =>
  holds
    .filter((hold) => record !== undefined && holdOf(record, [hold]) !== undefined)
    .map((hold) => ({
      at: hold.since,
      ...(hold.kind === 'paused'
        ? { lane: 'operator', source: 'operator' }
        : { ...defined({ until: hold.nextTurnAt }), lane: 'provider', source: 'circuit breaker' }),
      does: 'hold',
      what: sentenceOfHold(hold, now),
      verdict: 'failed',
    }));

const inOrderOfTime = (lines: readonly StoryLine[]): readonly StoryLine[] =>
  lines.toSorted((one, other) => (one.at === other.at ? 0 : one.at < other.at ? -1 : 1));

/**
 * Whether anything is known of the extraction. An execution of its name exists for 90 days, also without a record
 * (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html). So an id without either never existed, or was
 * forgotten long ago.
 */
export const isKnown = ({ record, execution, unread }: Known): boolean =>
  record !== undefined || execution !== undefined || unread.has('record') || unread.has('execution');

/**
 * The whole story of one extraction, from every source that has a part of it. Undefined if it is unknown. A source that
 * cannot be read is named in `notShown`, so this throws nothing but defects.
 */
export const explainExtraction = async (sources: StorySources, asked: Asked) => {
  const known = await gather(sources, asked);
  const { extractionId } = asked;
  if (!isKnown(known)) return undefined;
  const { record, unread } = known;
  const lines = inOrderOfTime([
    ...recordLines(known),
    ...taskLines(known),
    ...executionLines(known),
    ...logLines(known),
    ...holdLines(known),
  ]);
  const cut = lines.length - maxLines;
  return {
    extractionId,
    status: record?.status ?? (unread.has('record') || isUncertain(known) ? 'UNKNOWN' : 'GONE'),
    headline: bounded(headlineOf(known), maxHeadline),
    lines: lines.slice(0, maxLines),
    notShown: cut > 0 ? [...known.notShown, `The last ${cut} lines.`] : known.notShown,
  };
};
