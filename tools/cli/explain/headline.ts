import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Known } from './gather.ts';
import { goneFacts, outcomeFacts } from './outcome-facts.ts';
import { sentenceOf } from './sentences.ts';
import type { StoryFact } from './story-facts.ts';
import { waitingFacts } from './waiting-facts.ts';

const isOutcome = ({ status }: Extraction): boolean =>
  status !== 'REQUESTED' && status !== 'STARTING' && status !== 'RUNNING';

/** What is said of the sweep before and after the rest. */
const sweepFacts = ({ sweep, now }: Known, { dueAt: since }: Extraction) => {
  if (sweep === undefined || since === undefined) return {};
  const isLate = isOverdue({ dueAt: since }, now, sweep.everyMinutes);
  const overdue = { fact: 'overdue', since, isLate, isSweepOn: sweep.enabled } as const;
  if (sweep.enabled) return isLate ? { before: overdue } : {};
  return since <= now.toISOString() ? { before: overdue } : { after: { fact: 'sweepOff' } as const };
};

const openFacts = (known: Known, record: Extraction): readonly StoryFact[] => {
  const { settings } = known;
  const { before, after } = sweepFacts(known, record);
  return [
    ...(before === undefined ? [] : [before]),
    ...(isOutcome(record) ? outcomeFacts({ ...known, record }) : []),
    ...(settings === undefined
      ? [{ fact: 'settingsUnread', status: record.status } as const]
      : waitingFacts({ ...known, record, settings })),
    ...(after === undefined ? [] : [after]),
  ];
};

/** What the headline states, in order. */
export const headlineFacts = (known: Known): readonly StoryFact[] => {
  const { record, unread, refusedDeliveries: count } = known;
  if (record === undefined) return unread.has('record') ? [{ fact: 'recordUnread' }] : goneFacts(known);
  return [
    ...(record.dueShard === undefined ? outcomeFacts({ ...known, record }) : openFacts(known, record)),
    ...(count === 0 ? [] : [{ fact: 'refusedMeanwhile', count } as const]),
  ];
};

export const headlineOf = (known: Known): string =>
  headlineFacts(known)
    .map((stated) => sentenceOf(stated, known))
    .join(' ');
