import { isUtf8 } from 'node:buffer';
import { CliError } from './errors.ts';

const utf8 = 'Save it as UTF-8.';

/** UTF-16 by its byte order mark, or without one where every second of the first bytes is 0, as in any ASCII text. */
const isUtf16 = ([first = 1, second = 1]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first === 0) !== (second === 0);

/**
 * The text of a file or a pipe, without a byte order mark. Throws CliError where it is not UTF-8: each byte that cannot be decoded
 * would otherwise become U+FFFD, and a password with one would count at the bank as a wrong one. `name` is that of the file.
 */
export const decodeText = (bytes: Uint8Array, name: string): string => {
  if (isUtf16(bytes))
    throw new CliError(`${name} is in UTF-16. ${utf8} PowerShell 5.1 does so with -Encoding utf8.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    // Without the cause: it has nothing of the bytes today, and they may be a password.
    throw new CliError(
      `${name}${lineOf(bytes)} is not UTF-8. It may be in ISO 8859-1 or Windows-1252. ${utf8} Such as: iconv -f WINDOWS-1252 -t UTF-8`,
    );
  }
};

/** The first line that is not UTF-8, of several. No character of UTF-8 has the byte of a line break in it. */
const lineOf = (bytes: Uint8Array): string => {
  const lines = Buffer.from(bytes).toString('latin1').trimEnd().split('\n');
  const at = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')));
  return lines.length === 1 ? '' : `, line ${at + 1},`;
};

/** What was typed, as the terminal's decoder returned it. Throws CliError where that replaced bytes that are not UTF-8. */
export const checkTypedText = (text: string): string => {
  if (!text.includes('\ufffd')) return text;
  throw new CliError('What was typed is not UTF-8. Set the terminal to UTF-8, or use a file.');
};
