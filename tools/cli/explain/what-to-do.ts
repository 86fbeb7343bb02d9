import { adviceOf, advices } from '../../../lib/extraction/advice.ts';
import { type Extraction, isTerminalStatus } from '../../../lib/extraction/record.ts';
import type { CommandText } from '../terminal/command-text.ts';
import type { Story } from './story.ts';

/** How an operator finds out what is wrong, of an extraction that does not go on by itself. */
export type Waiting = {
  readonly command: CommandText;
  readonly isOverdue: boolean;
  readonly hold?: 'paused' | 'held' | undefined;
};

const waiting = ({ isOverdue, hold, command }: Waiting, extractionId: string): string => {
  if (hold === 'paused') return `Nothing until somebody resumes the calls: \`${command('resume')}\`.`;
  if (hold === 'held') return 'Nothing. It goes on once the provider answers again.';
  return isOverdue
    ? `Run \`${command('doctor')}\`, and then \`${command('reconcile', extractionId)}\`.`
    : 'Nothing. It goes on by itself.';
};

/** What an operator does about an extraction, in one or two sentences. What its caller does, if it is closed. */
export const whatToDo = (record: Extraction, state: Waiting): string => {
  const { extractionId, status, dueShard } = record;
  if (dueShard !== undefined && (!isTerminalStatus(status) || state.isOverdue)) {
    return waiting(state, extractionId);
  }
  const advice = adviceOf(record);
  return advice === undefined ? waiting(state, extractionId) : advices[advice];
};

/**
 * What went wrong last: as the record has it or, while it is open, the last line of the story about a failure. A status such as
 * `CREDENTIALS_WRONG` is its own reason.
 */
export const lastProblem = (record: Extraction, story: Story | undefined): string | undefined => {
  const isOpen = record.settledAt === undefined;
  const failed = story?.lines.findLast(({ verdict }) => verdict === 'failed' || verdict === 'refused');
  return record.collectionError ?? record.lastProblem ?? record.reason ?? (isOpen ? failed?.what : undefined);
};
