import { createHmac, timingSafeEqual } from 'node:crypto';

/** 96 bits. A taskId has at most 100 characters, so there is no room for many more. */
const macBytes = 12;

/** `kind` keeps a token of one kind from being used as another. */
const macOf = (key: string, kind: string, text: string): Buffer =>
  createHmac('sha256', key).update(`${kind}\n${text}`).digest().subarray(0, macBytes);

/** Joins the fields, none of which may contain a dot, and a MAC over them. Everybody can read them. */
export const issueToken = (key: string, kind: string, fields: readonly (string | number)[]): string => {
  const text = fields.join('.');
  return `${text}.${macOf(key, kind, text).toString('base64url')}`;
};

/** Returns the fields of a token, or undefined if this key did not issue it as this kind. */
export const openToken = (key: string, kind: string, token: string): readonly string[] | undefined => {
  const text = token.slice(0, Math.max(token.lastIndexOf('.'), 0));
  const mac = token.slice(text.length + 1);
  return isEqual(mac, macOf(key, kind, text).toString('base64url')) ? text.split('.') : undefined;
};

/** Compares in a time that depends only on the lengths. */
export const isEqual = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/**
 * The id of a user's only consent, in the form of a UUID of version 8 (RFC 9562). It has the time of the authorization,
 * and a MAC over user and time.
 */
export const consentIdOf = (key: string, target: string, authorizedAt: number): string => {
  const time = authorizedAt.toString(16).padStart(8, '0');
  const mac = macOf(key, 'consent', `${target} ${authorizedAt}`).toString('hex');
  return `${time}-${mac.slice(0, 4)}-8${mac.slice(4, 7)}-a${mac.slice(7, 10)}-${mac.slice(10, 22)}`;
};
