/** One line, or several. A line break within a line is not one: it would let a text write a line of its own. */
export type Lines = string | readonly string[];

/**
 * What a terminal obeys in place of showing it (escape sequences begin with one of these), and what reorders or breaks a
 * line in Unicode.
 */
const obeyed = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text as one line that a terminal only shows: whatever else is in it is escaped as JSON does it, `\u001b`. */
export const printable = (text: string): string => text.replace(obeyed, escaped);

/** Each of the lines, printable, and ended. */
export const printableLines = (lines: Lines): string =>
  (typeof lines === 'string' ? [lines] : lines).map((line) => `${printable(line)}\n`).join('');

/** One line of JSON. It means the same after `printable`, as these characters stand in strings only. */
export const printableJson = (facts: unknown): string => `${printable(JSON.stringify(facts))}\n`;
