import { defined } from '../../../lib/defined.ts';
import { plusSeconds } from '../../../lib/extraction/deadlines.ts';
import { knownStartError } from '../terminal/extraction-failures.ts';
import { bounded } from './bounded-text.ts';
import { type Attempt, nextAttemptAt, type StateVisit } from './execution-progress.ts';
import type { Known } from './gather.ts';
import type { StorySettings } from './sources.ts';
import type { StoryLine } from './story.ts';

const machine = { lane: 'machine', source: 'Step Functions' } as const;

/**
 * Whether a try with this error is no failure, but a poll that found the task running. The emulator does not keep the name
 * `NotYet` of an error that a function throws.
 */
const isPoll = (error: string | undefined): boolean => error === 'NotYet' || error === 'Runtime.HandlerError';

/** What did not come within the timeout of a state. */
const missed = (state: string): string =>
  state === 'Reconcile' ? 'AWS did not answer this poll in time.' : 'No webhook ended the wait in time.';

const outcomeOf = (
  { error, message }: Attempt,
  state: string,
): Pick<StoryLine, 'what' | 'verdict' | 'does'> => {
  if (error === 'States.Timeout') return { what: missed(state), verdict: 'failed' };
  const because = message === undefined ? '' : ` (${message})`;
  const known = error === undefined ? undefined : knownStartError({ error, problem: message });
  if (known !== undefined)
    return { what: `Try failed with ${error}: ${known}.`, verdict: 'failed', does: 'wait' };
  if (isPoll(error)) {
    return { what: bounded(`Polled: not yet${because}.`), does: 'wait' };
  }
  return { what: bounded(`Try failed with ${error}${because}.`), verdict: 'failed', does: 'wait' };
};

const attemptLines = (visit: StateVisit, settings: StorySettings | undefined): readonly StoryLine[] =>
  visit.attempts.flatMap((attempt) => {
    const { number, scheduledAt: since, endedAt: at, error } = attempt;
    if (error === undefined || at === undefined) return [];
    const nextAt = nextAttemptAt(visit, attempt, settings);
    return defined({
      at,
      since,
      ...machine,
      ...outcomeOf(attempt, visit.state),
      attempt: number,
      nextAt,
    }) as StoryLine;
  });

const states: Readonly<Record<string, string>> = {
  StartTask: 'State StartTask: start the task, and wait for the webhook.',
  Reconcile: 'State Reconcile: read the provider until there is an outcome.',
};

/** When a state was left, or when the wait for the webhook ends. */
const endOf = (visit: StateVisit, settings: StorySettings | undefined): string | undefined => {
  const last = visit.attempts.at(-1);
  const wait = last?.timeoutSeconds ?? settings?.webhookWait;
  if (visit.leftAt !== undefined || visit.state !== 'StartTask') return visit.leftAt;
  if (last === undefined || last.endedAt !== undefined || wait === undefined) return undefined;
  return plusSeconds(last.scheduledAt, wait);
};

const visitLines = (visit: StateVisit, settings: StorySettings | undefined): readonly StoryLine[] => [
  defined({
    at: visit.enteredAt,
    until: endOf(visit, settings),
    does: 'wait',
    ...machine,
    what: bounded(states[visit.state] ?? `State ${visit.state}.`),
  }) as StoryLine,
  ...attemptLines(visit, settings),
];

/** One line for each state, each try that failed or found the task running, each redrive, and the end. */
export const executionLines = ({ execution, settings }: Known): readonly StoryLine[] => {
  if (execution === undefined) return [];
  const { visits, redrivenAt, end } = execution;
  const redrives = redrivenAt.map(
    (at): StoryLine => ({ at, lane: 'operator', source: 'operator', what: 'Redrove the execution.' }),
  );
  const verdict = end?.how === 'succeeded' ? 'ok' : 'failed';
  return [
    { at: execution.startedAt, ...machine, what: 'Started the execution.' },
    ...visits.flatMap((visit) => visitLines(visit, settings)),
    ...redrives,
    ...(end === undefined
      ? []
      : [{ at: end.at, ...machine, what: `The execution has ${end.how}.`, verdict } as const]),
  ];
};
