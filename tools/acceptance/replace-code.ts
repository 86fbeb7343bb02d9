import { type Token as AcornToken, tokenizer } from 'acorn';

type Token = {
  readonly text: string;
  readonly isName: boolean;
  readonly start: number;
  readonly end: number;
  /** A comma before a closing bracket, which a formatter adds and removes. */
  readonly isOptional: boolean;
};

/** The code does not occur exactly once. */
export class CodeNotFound extends Error {
  override readonly name = 'CodeNotFound';
}

// Types consist of the same tokens as JavaScript.
const tokensOf = (code: string): readonly Token[] => {
  const all: readonly AcornToken[] = [...tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' })];
  return all.map(({ type, start, end }, index) => ({
    text: code.slice(start, end),
    isName: type.label === 'name',
    start,
    end,
    isOptional: type.label === ',' && [')', ']', '}'].includes(all[index + 1]?.type.label ?? ''),
  }));
};

type Match = { readonly start: number; readonly end: number; readonly names: ReadonlyMap<string, string> };

/** The match of all of `wanted` from a token of the source on. A name that is not `known` stands for any name, always the same. */
const matchAt = (
  source: readonly Token[],
  from: number,
  wanted: readonly Token[],
  known: ReadonlySet<string>,
): Match | undefined => {
  const names = new Map<string, string>();
  const taken = new Set(wanted.filter(({ isName }) => isName).map(({ text }) => text));
  const isSame = (found: Token | undefined, sought: Token): boolean => {
    if (found === undefined) return false;
    if (!sought.isName || known.has(sought.text)) return found.text === sought.text;
    const before = names.get(sought.text);
    if (before !== undefined || !found.isName) return before === found.text;
    if (taken.has(found.text)) return false;
    taken.add(found.text);
    names.set(sought.text, found.text);
    return true;
  };
  let at = from;
  for (const sought of wanted) {
    if (source[at]?.isOptional && at > from && sought.text !== ',') at += 1;
    if (isSame(source[at], sought)) at += 1;
    else if (!sought.isOptional) return undefined;
  }
  return { start: source[from]?.start ?? 0, end: source[at - 1]?.end ?? 0, names };
};

/**
 * The source with one piece of its code replaced. `find` has whole tokens, and must occur exactly once. White space, comments and commas
 * before a closing bracket do not matter. A name of `find` that the source does not have was renamed there: it stands for any other name, also in `replace`.
 * Throws CodeNotFound.
 */
export const replaceCode = (source: string, find: string, replace: string): string => {
  const tokens = tokensOf(source);
  const wanted = tokensOf(find);
  const known = new Set(tokens.filter(({ isName }) => isName).map(({ text }) => text));
  const matches = tokens.flatMap((_, from) => matchAt(tokens, from, wanted, known) ?? []);
  const [match] = matches;
  if (match === undefined || matches.length > 1)
    throw new CodeNotFound(`It occurs ${matches.length} times, not once: ${find}`);
  const renamed = tokensOf(replace)
    .toReversed()
    .reduce(
      (code, { text, isName, start, end }) =>
        isName && match.names.has(text)
          ? `${code.slice(0, start)}${match.names.get(text)}${code.slice(end)}`
          : code,
      replace,
    );
  return `${source.slice(0, match.start)}${renamed}${source.slice(match.end)}`;
};
