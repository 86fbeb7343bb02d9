import { decodingsOf } from './decodings.ts';
import { headCharacters } from './sealed-requests.ts';
import type { Secret } from './secret.ts';

type Kind = Secret['kind'];

/** A national id in any usual form, with or without its check digit, that is no part of a longer word. */
const likeNationalId = /(?<![\w-])\d{1,2}\.?\d{3}\.?\d{3}(?:-?[\dkK])?(?![\w-])/g;
/** As `credentialsMac` returns it. */
const likeMac = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g;
const likeUuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const beginningWithUuid: ReadonlySet<Kind> = new Set([
  'callback token',
  'sealed request',
  'used sealed request',
]);

/** `12345678` of `12345678-5`. */
const bodyOf = (nationalId: string): string => nationalId.split('-')[0] ?? '';

/**
 * Returns a function that finds secrets in bytes of any encoding, and returns their kinds. There are thousands of national ids, MACs,
 * callback tokens and sealed requests: each match of their pattern is compared with the known ones. The others are searched for
 * one by one.
 */
export const secretFinder = (secrets: readonly Secret[]) => {
  const valuesOf = (kind: Kind) => secrets.filter((one) => one.kind === kind).map(({ value }) => value);
  const bodies = new Set(valuesOf('national id').map(bodyOf));
  // They begin with the UUID of a key.
  const likeUuids = new Map(
    secrets.filter(({ kind }) => beginningWithUuid.has(kind)).map(({ kind, value }) => [value, kind]),
  );
  const macs = new Set(valuesOf('MAC of credentials'));
  const hasPattern = (kind: Kind): boolean =>
    kind === 'national id' || kind === 'MAC of credentials' || beginningWithUuid.has(kind);
  const others = secrets.filter(({ kind }) => !hasPattern(kind));

  const findIn = (text: string, found: Set<Kind>): void => {
    for (const { kind, value } of others) {
      if (!found.has(kind) && text.includes(value)) found.add(kind);
    }
    for (const { 0: uuid, index } of likeUuids.size === 0 ? [] : text.matchAll(likeUuid)) {
      const kind = likeUuids.get(uuid) ?? likeUuids.get(text.slice(index, index + headCharacters));
      if (kind !== undefined) found.add(kind);
    }
    for (const [mac] of macs.size === 0 ? [] : text.matchAll(likeMac)) {
      if (macs.has(mac)) found.add('MAC of credentials');
    }
    for (const [like] of bodies.size === 0 ? [] : text.matchAll(likeNationalId)) {
      const characters = like.replaceAll(/[.-]/g, '');
      if (bodies.has(characters) || bodies.has(characters.slice(0, -1))) found.add('national id');
    }
  };

  return (bytes: Buffer): ReadonlySet<Kind> => {
    const found = new Set<Kind>();
    for (const text of decodingsOf(bytes)) findIn(text, found);
    return found;
  };
};
