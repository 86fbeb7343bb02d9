import { type Extraction, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { remediesOf } from '../terminal/describe-failure.ts';
import type { Story } from './story.ts';

/** How an operator finds out what is wrong, of an extraction that does not go on by itself. */
export type Waiting = {
  readonly isOverdue: boolean;
  /** What keeps its calls from the provider, if anything does. */
  readonly hold?: 'paused' | 'held' | undefined;
};

const waiting = ({ isOverdue, hold }: Waiting, extractionId: string): string => {
  if (hold === 'paused') return 'Nothing until somebody resumes the calls: `cosecha resume`.';
  if (hold === 'held') return 'Nothing. It goes on once the provider answers again.';
  return isOverdue
    ? `Run \`cosecha doctor\`, and then \`cosecha reconcile ${extractionId}\`.`
    : 'Nothing. It goes on by itself.';
};

const ofStatus: Readonly<Record<string, string>> = {
  COMPLETED: 'Nothing.',
  CREDENTIALS_WRONG: 'The user corrects the credentials, and it is requested again.',
  CREDENTIALS_LOCKED: 'The user unlocks the credentials at the bank, and it is requested again.',
  REJECTED: 'Nothing ran. The caller corrects the request, and requests it again.',
  NOT_STARTED: 'Nothing ran. It may be requested again.',
  UNCONFIRMED: 'Ask the provider whether a task runs, before it is requested again.',
  TIMED_OUT: 'Ask the provider whether the task still runs, before it is requested again.',
};

/** What an operator does about an extraction, in one or two sentences. */
export const whatToDo = (record: Extraction, state: Waiting): string => {
  const { extractionId, status, collectionError, dueShard } = record;
  if (dueShard !== undefined && (!isTerminalStatus(status) || state.isOverdue)) {
    return waiting(state, extractionId);
  }
  if (collectionError !== undefined) return 'Its results are lost. It may be requested again.';
  return remediesOf(record).join(' ') || (ofStatus[status] ?? 'It may be requested again.');
};

/** What went wrong last: as the record has it, or else the last line of the story about a failure. */
export const lastProblem = (record: Extraction, story: Story | undefined): string | undefined => {
  const failed = story?.lines.findLast(({ verdict }) => verdict === 'failed' || verdict === 'refused');
  return record.collectionError ?? record.reason ?? failed?.what;
};
