import type { Extraction } from '../../../../lib/extraction/record.ts';
import { CliError } from '../../terminal/errors.ts';
import { plural } from '../../terminal/plural.ts';
import type { ConsoleAction } from './action-types.ts';
import { checkTypedNumber } from './check-typed-number.ts';

/** Each is an erasure of its own: two writes and a message. A thousand take about a minute. */
const maxErased = 1_000;

type EraseMatchingDeps = {
  /** What the list shows for this query, on all of its pages. */
  readonly matching: (query: string) => Promise<readonly Pick<Extraction, 'extractionId'>[]>;
  /** Begins the erasure of one extraction, as `cosecha erase <id>` does. */
  readonly erase: (extractionId: string) => Promise<void>;
};

/** Erases what matches a filter of the list. The operator types how many, so that nobody erases more than was shown. */
export const eraseMatchingAction = ({ matching, erase }: EraseMatchingDeps): ConsoleAction => ({
  id: 'erase',
  label: 'Erase all that match',
  place: 'list',
  input: 'How many extractions, to confirm',
  effect:
    'Each loses its results, task, request and record for good. What runs is erased once its outcome is in the stream; what waits is not started.',
  describe: async (query) =>
    `${plural((await matching(query)).length, 'extraction matches', 'extractions match')} this filter now.`,
  run: async (query, input) => {
    const records = await matching(query);
    const now = plural(records.length, 'extraction matches', 'extractions match');
    checkTypedNumber(input, { count: records.length, now, max: maxErased, done: 'erased' });
    for (const [begun, { extractionId }] of records.entries()) {
      try {
        await erase(extractionId);
      } catch (cause) {
        if (begun === 0) throw cause;
        throw new CliError(
          `${begun} of ${records.length} erasures have begun. Then one failed. Do it again.`,
          { cause },
        );
      }
    }
    const erasures = plural(records.length, 'erasure has', 'erasures have');
    return { text: `${erasures} begun. A row goes once its extraction is erased.` };
  },
});
