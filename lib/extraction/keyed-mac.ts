import { createHmac } from 'node:crypto';
import { userFields } from '../provider/assumptions.ts';
import { bareNationalId } from '../provider/national-id.ts';

/**
 * Writes equal JSON values as one text. The order of keys, the form of numbers and the normal form of Unicode do not matter, because a
 * person who types a password does not choose them.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(typeof value === 'string' ? value.normalize() : value);
  }
  const fields = Object.entries(value).map(
    ([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`,
  );
  return `{${fields.toSorted().join()}}`;
};

/** The purpose of a MAC under the fingerprint key. MACs of two purposes cannot be compared. */
type Purpose = 'request' | 'raw' | 'persisted' | 'password' | 'refusal' | 'erasure';

/** The first `bits` of an HMAC-SHA256 over a JSON value, in hex. */
export const keyedMac = (key: string, purpose: Purpose, value: unknown, bits: number): string =>
  createHmac('sha256', key)
    .update(`${purpose}:${canonicalJson(value)}`)
    .digest('hex')
    .slice(0, bits / 4);

export type Fields = { readonly [field: string]: unknown };

/**
 * The user of raw credentials, in one form: a national id is the same with dots, hyphen, spaces, or a small `k`. If the credentials do not
 * name the user by the documented fields, these are all fields except the password.
 */
export const userOf = ({ password: _password, ...others }: Fields): Fields => {
  const named = userFields.filter((field) => typeof others[field] === 'string');
  if (!named.includes('username')) return others;
  return Object.fromEntries(
    named.map((field) => {
      const text = (others[field] as string).normalize();
      return [field, bareNationalId(text) ?? text];
    }),
  );
};
