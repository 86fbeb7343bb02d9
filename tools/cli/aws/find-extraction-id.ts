import { validate as isUuid } from 'uuid';
import { CliError, UsageError } from '../terminal/errors.ts';
import { isShortOf, parseShortId } from '../terminal/short-id.ts';

/** Whether a text may name an extraction, as far as that can be known without the deployment. */
export const mayBeExtractionId = (text: string): boolean => isUuid(text) || parseShortId(text) !== undefined;

/**
 * The id that is meant. `known` reads the ids to search for a shortened one: those that are open, and of the newest 1,000
 * executions.
 * @throws {CliError} if none has this beginning, and {UsageError} if several do
 */
export const findExtractionId = async (
  given: string,
  known: () => Promise<readonly string[]>,
): Promise<string> => {
  if (isUuid(given)) return given;
  const short = parseShortId(given) ?? { first: given, last: undefined };
  const meant = [...new Set(await known())].filter((id) => isShortOf(short, id));
  const [only, ...others] = meant;
  if (only === undefined) {
    throw new CliError(
      `No extraction that is open, or among the newest 1,000, has an id that begins with ${short.first}. Name the whole id.`,
    );
  }
  if (others.length === 0) return only;
  throw new UsageError([
    `${given} begins the ids of ${meant.length} extractions. Name one:`,
    ...meant.slice(0, 10),
  ]);
};
