/** One line, or several. A line break within a line is escaped, as a text could otherwise print lines of its own. */
export type Lines = string | readonly string[];

/** What terminals interpret instead of showing it: control characters, and Unicode's own line breaks and reordering. */
const interpreted = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text as one line that a terminal shows in full. The rest is escaped as in JSON: `\u001b`. */
export const printable = (text: string): string => text.replace(interpreted, escaped);

export const printableLines = (lines: Lines): string =>
  (typeof lines === 'string' ? [lines] : lines).map((line) => `${printable(line)}\n`).join('');

/** One line of JSON. `printable` does not change its meaning, as these characters occur in its strings only. */
export const printableJson = (facts: unknown): string => `${printable(JSON.stringify(facts))}\n`;
