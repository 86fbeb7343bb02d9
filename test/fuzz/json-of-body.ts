import { isUtf8 } from 'node:buffer';

export const notJson = Symbol('not JSON');

/** The JSON of a body, or `notJson`. */
export const jsonOf = (body: Buffer): unknown => {
  if (!isUtf8(body)) return notJson;
  try {
    // A byte order mark is not part of the text, and a parser may ignore it (RFC 8259, section 8.1).
    return JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
  } catch {
    return notJson;
  }
};

/** Whether a value is a text that UTF-8 cannot hold. */
export const isHalf = (value: unknown): boolean => typeof value === 'string' && /\p{Surrogate}/u.test(value);
