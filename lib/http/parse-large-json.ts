import { jsonParser, type Token } from 'stream-json/core/parser.js';

/**
 * The parts of a JSON text to keep: of an object the fields with these names, of an array its items. A value without
 * parts of its own is kept as a scalar, or as an empty object or array.
 */
export type Parts = {
  readonly fields?: Readonly<Record<string, Parts>>;
  readonly items?: Parts;
  /** A number is kept as it is. Any other one becomes 0, as it decides nothing. */
  readonly isNumber?: true;
  /** An object with any field keeps one, with an empty name. So it differs from an empty object. */
  readonly showsFields?: true;
};

/** In characters. The rest of a longer key, string or number is dropped. No status, id or code that counts is as long. */
const maxText = 128;

/** The first items of an array that are kept. More actions than 50 are unexpected, so one more is enough. */
const maxItems = 51;

/**
 * A deeper text is refused. The parser keeps an entry for each open level, so ten million levels in 20 MiB would take 80
 * MB. Parsers of consumers refuse more than about 1,000 levels.
 */
const maxDepth = 10_000;

/** In bytes. All tokens of a piece exist at once, and 2 KB of numbers are already 3,000 tokens. */
const pieceBytes = 2_048;

type Open = { readonly value: Record<string, unknown> | unknown[]; readonly parts: Parts; key: string };

/** Assembles the kept parts from the tokens of one text. */
class KeptParts {
  /** Whether the value of the whole text has ended. */
  ended = false;
  root: unknown;
  readonly #parts: Parts;
  /** The kept objects and arrays that are open. */
  readonly #open: Open[] = [];
  /** How many objects and arrays are open that are not kept, inside of the last one that is. */
  #dropped = 0;
  #text = '';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Throws a RangeError if the text is nested too deeply. */
  take(token: Token): void {
    switch (token.name) {
      case 'startKey':
      case 'startString':
      case 'startNumber':
        this.#text = '';
        return;
      case 'stringChunk':
      case 'numberChunk':
        if (this.#dropped === 0 && this.#text.length < maxText) {
          this.#text = (this.#text + token.value).slice(0, maxText);
        }
        return;
      case 'endKey':
        this.#name(this.#text);
        return;
      case 'endString':
        this.#scalar(this.#text);
        return;
      case 'endNumber':
        this.#scalar(this.#nextParts()?.isNumber === true ? Number(this.#text) : 0);
        return;
      case 'nullValue':
      case 'trueValue':
      case 'falseValue':
        this.#scalar(token.value);
        return;
      case 'startObject':
        this.#start({});
        return;
      case 'startArray':
        this.#start([]);
        return;
      case 'endObject':
      case 'endArray':
        this.#end();
    }
  }

  #name(key: string): void {
    const last = this.#open.at(-1);
    if (this.#dropped > 0 || last === undefined) return;
    last.key = key;
    if (last.parts.showsFields === true) Object.assign(last.value, { '': null });
  }

  /** The parts of the value that begins now; undefined if it is not kept. */
  #nextParts(): Parts | undefined {
    const last = this.#open.at(-1);
    if (last === undefined) return this.#parts;
    const { value, parts, key } = last;
    if (Array.isArray(value)) return value.length < maxItems ? parts.items : undefined;
    return parts.fields !== undefined && Object.hasOwn(parts.fields, key) ? parts.fields[key] : undefined;
  }

  /** As in JSON.parse, the last of several fields with one name counts. */
  #place(value: unknown): void {
    const last = this.#open.at(-1);
    if (last === undefined) this.root = value;
    else if (Array.isArray(last.value)) last.value.push(value);
    else last.value[last.key] = value;
  }

  #scalar(value: unknown): void {
    if (this.#dropped === 0 && this.#nextParts() !== undefined) this.#place(value);
    if (this.#open.length === 0) this.ended = true;
  }

  #start(value: Open['value']): void {
    if (this.#open.length + this.#dropped >= maxDepth) throw new RangeError('The JSON is nested too deeply.');
    const parts = this.#dropped === 0 ? this.#nextParts() : undefined;
    if (parts === undefined) {
      this.#dropped += 1;
      return;
    }
    this.#place(value);
    this.#open.push({ value, parts, key: '' });
  }

  #end(): void {
    if (this.#dropped > 0) this.#dropped -= 1;
    else this.#open.pop();
    if (this.#open.length === 0) this.ended = true;
  }
}

const startsWithByteOrderMark = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/**
 * Parses JSON as JSON.parse does, but keeps only some parts, in little memory for any text. A leading byte order mark is
 * ignored. Throws an Error if the bytes are not JSON, and a RangeError if they are nested too deeply.
 *
 * Bytes are decoded as Latin-1, because what is kept and compared is ASCII, and JSON has other characters only inside of
 * strings. So bytes that are not UTF-8 are accepted there, as by a decoder that replaces them.
 */
export const parseLargeJson = (bytes: Uint8Array, parts: Parts): unknown => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parse = jsonParser({ packValues: false });
  const kept = new KeptParts(parts);
  const takeAll = (text: string): void => {
    const tokens = parse(text);
    if (typeof tokens !== 'symbol') for (const token of tokens.values) kept.take(token);
  };
  for (let at = startsWithByteOrderMark(view) ? 3 : 0; at < view.byteLength; at += pieceBytes) {
    takeAll(view.toString('latin1', at, at + pieceBytes));
  }
  // A number or literal at the very end has no other end.
  takeAll(' ');
  if (!kept.ended) throw new SyntaxError('The JSON is not complete.');
  return kept.root;
};
