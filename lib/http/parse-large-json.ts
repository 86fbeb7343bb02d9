import { jsonParser, type Token } from 'stream-json/core/parser.js';

/**
 * The parts of a JSON text to keep: these fields of an object, and the items of an array. A value without `fields` or `items` is kept as a
 * scalar, or as an empty object or array.
 */
export type Parts = {
  readonly fields?: Readonly<Record<string, Parts>>;
  readonly items?: Parts;
  /** Keeps a number as it is. All other numbers become 0, because they decide nothing. */
  readonly isNumber?: true;
  /** Keeps one field with an empty name for an object that has any field. So it differs from an empty object. */
  readonly showsFields?: true;
};

/** The longest key, string or number, in characters. The rest is dropped. Every relevant status, id and code is shorter. */
const maxText = 128;

/** How many items of an array are kept. More than 50 actions are unexpected, so one more is enough to notice. */
const maxItems = 51;

/**
 * The deepest accepted nesting. The parser keeps an entry for each open level, so ten million levels in 20 MiB would take 80 MB. Parsers of
 * consumers refuse more than about 1,000 levels.
 */
const maxDepth = 10_000;

/** How many bytes are parsed at once. All their tokens exist at one time, and 2 KB of numbers are already 3,000 tokens. */
const pieceBytes = 2_048;

type Open = { readonly value: Record<string, unknown> | unknown[]; readonly parts: Parts; key: string };

/** Assembles the kept parts from the tokens of one text. */
class KeptParts {
  /** Whether the value of the whole text has ended. */
  ended = false;
  root: unknown;
  readonly #parts: Parts;
  /** The open objects and arrays that are kept. */
  readonly #open: Open[] = [];
  /** How many open objects and arrays are not kept. */
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

  /** The parts to keep of the next value. Undefined if it is not kept. */
  #nextParts(): Parts | undefined {
    const last = this.#open.at(-1);
    if (last === undefined) return this.#parts;
    const { value, parts, key } = last;
    if (Array.isArray(value)) return value.length < maxItems ? parts.items : undefined;
    return parts.fields !== undefined && Object.hasOwn(parts.fields, key) ? parts.fields[key] : undefined;
  }

  /** If a name occurs twice, the last value counts, as in JSON.parse. */
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
 * Parses JSON as JSON.parse does, but keeps only some parts, and so needs little memory for any text. A leading byte order mark is ignored.
 * Throws an Error if the bytes are not JSON, and a RangeError if they are nested too deeply.
 *
 * Bytes are decoded as Latin-1, because all that is kept and compared is ASCII. JSON has other characters only inside of strings. There,
 * bytes that are not UTF-8 are accepted too.
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
  // The space ends a number or literal at the very end.
  takeAll(' ');
  if (!kept.ended) throw new SyntaxError('The JSON is not complete.');
  return kept.root;
};
