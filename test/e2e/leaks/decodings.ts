import { constants, inflateRawSync } from 'node:zlib';

/** How many nested encodings are decoded: a zip of a JSON with a base64 of a gzip of a base64. */
const maxDepth = 4;

/** Shorter runs are ordinary words. */
const base64Run = /[A-Za-z0-9+/_-]{16,}/g;
const hexRun = /(?:[0-9a-f]{2}){8,}|(?:[0-9A-F]{2}){8,}/g;

const text = (bytes: Buffer): string => bytes.toString('latin1');

/** Decodes `\u0041` and `%41`, with which JSON and URLs may write any character. */
const unescaped = (from: string): string =>
  from
    .replaceAll(/\\u00([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Decodes each run from each of its first characters, because a secret may begin at any of them. */
const decoded = (from: string, run: RegExp, encoding: 'base64' | 'hex', offsets: number): string => {
  const parts: string[] = [];
  for (const [found] of from.matchAll(run)) {
    for (let offset = 0; offset < offsets; offset += 1) {
      parts.push(text(Buffer.from(found.slice(offset), encoding)));
    }
  }
  return parts.join('\n');
};

/** No compressed content of the suite is larger, in bytes. */
const maxCompressed = 16 * 1024 * 1024;

/** Inflates from there on. The header may be a coincidence and the end may be missing, so errors yield nothing. */
const inflated = (from: string, begin: number): string => {
  try {
    const packed = Buffer.from(from.slice(begin, begin + maxCompressed), 'latin1');
    return text(inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH }));
  } catch {
    return '';
  }
};

/** Where the data begins after a gzip header (RFC 1952, 2.3): extra field, name, comment and checksum are optional. */
const afterGzipHeader = (from: string, at: number): number => {
  const flags = from.charCodeAt(at + 3);
  let next = at + 10;
  if (flags & 4) next += 2 + from.charCodeAt(next) + 256 * from.charCodeAt(next + 1);
  for (const text of [8, 16]) if (flags & text) next = from.indexOf('\0', next) + 1;
  return flags & 2 ? next + 2 : next;
};

/** Where the data begins after the local header of a file in a zip (APPNOTE.TXT, 4.3.7): its name, an extra field. */
const afterZipHeader = (from: string, at: number): number => {
  const lengthAt = (index: number) => from.charCodeAt(index) + 256 * from.charCodeAt(index + 1);
  return at + 30 + lengthAt(at + 26) + lengthAt(at + 28);
};

const unpacked = (from: string): string => {
  const parts: string[] = [];
  for (const [header, after] of [
    ['\x1f\x8b\x08', afterGzipHeader],
    ['PK\x03\x04', afterZipHeader],
  ] as const) {
    for (let at = from.indexOf(header); at !== -1; at = from.indexOf(header, at + 1)) {
      const part = inflated(from, after(from, at));
      if (part !== '') parts.push(part);
    }
  }
  return parts.join('\n');
};

/** The bytes as text, and decoded from escapes, base64, hexadecimal, gzip and zip. */
export function* decodingsOf(bytes: Buffer): Generator<string, void> {
  yield* decodingsOfText(text(bytes), 0);
}

function* decodingsOfText(from: string, depth: number): Generator<string, void> {
  yield from;
  if (depth === maxDepth) return;
  const plain = unescaped(from);
  if (plain !== from) yield plain;
  for (const inner of [
    decoded(plain, base64Run, 'base64', 4),
    decoded(plain, hexRun, 'hex', 2),
    unpacked(from),
  ]) {
    if (inner !== '') yield* decodingsOfText(inner, depth + 1);
  }
}
