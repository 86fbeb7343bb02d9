import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Telemetry } from '../observability/telemetry.ts';
import { signaturePattern } from '../provider/assumptions.ts';
import { secretsIn } from '../secret-shape.ts';

/** A signing key of the provider, in the two forms that are needed. Created once per fetch of the keys. */
export type SigningKey = {
  /** Decrypts an encrypted body ("Encryption scheme", with the signing key in place of the session token). */
  readonly text: string;
  /** The UTF-8 bytes of `text`, for HMAC. A text would be encoded and copied for each delivery. */
  readonly secret: KeyObject;
};

export const signingKeyOf = (text: string): SigningKey => ({ text, secret: createSecretKey(text, 'utf8') });

export type Verification =
  | { readonly verified: true; readonly key: string }
  | { readonly verified: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

const scheme = 'sha256=';

/**
 * Verifies `X-Service-Signature: sha256=<hmac-hex>` over the raw body ("Events", rule 6). The HMAC-SHA256 key is the
 * UTF-8 bytes of a signing key. Every active key is compared in constant time, so that the duration does not reveal
 * which one matched. `body` is the bytes as received.
 */
export const verifySignature = (
  header: string | undefined,
  body: Uint8Array,
  keys: readonly SigningKey[],
): Verification => {
  if (header === undefined) return { verified: false, reason: 'missing' };
  // Node's hex decoder reads only the low byte of a character, and would decode U+0130 as 0.
  if (!signaturePattern.test(header)) return { verified: false, reason: 'malformed' };
  const claimed = Buffer.from(header.slice(scheme.length), 'hex');
  let matched: SigningKey | undefined;
  for (const key of keys) {
    const expected = createHmac('sha256', key.secret).update(body).digest();
    if (timingSafeEqual(expected, claimed)) matched ??= key;
  }
  return matched === undefined
    ? { verified: false, reason: 'mismatch' }
    : { verified: true, key: matched.text };
};

/** The signing keys that a delivery may be signed with: the current one and the one before it. */
export type SigningKeys = {
  current(): Promise<readonly SigningKey[]>;
  /** For use after a mismatch. Fetches the keys again, or returns undefined if the last fetch is too recent. */
  refreshed(): Promise<readonly SigningKey[] | undefined>;
};

/** A function accepts a withdrawn key from its cache for at most this long, in milliseconds. */
const maxAgeMs = 5 * 60_000;

/**
 * Caches the keys. They are fetched again when they are old, and after a mismatch, but then at most every
 * `refreshEveryMs`. That is less than the 30 s between two deliveries, so a rotation loses no delivery. It is long
 * enough that forged deliveries do not load the secret store. If the store is down, the cached keys still verify,
 * because a lost delivery is worse than a late withdrawal. `current` throws what `fetchKeys` throws if no keys are
 * cached.
 */
export const cacheSigningKeys = (options: {
  readonly fetchKeys: () => Promise<readonly string[]>;
  readonly refreshEveryMs: number;
  readonly now: () => Date;
}): SigningKeys => {
  let known: readonly SigningKey[] | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const fetchNow = async (): Promise<readonly SigningKey[]> => {
    triedAt = options.now().getTime();
    known = (await options.fetchKeys()).map(signingKeyOf);
    return known;
  };
  const age = (): number => options.now().getTime() - triedAt;

  return {
    current: async () => {
      if (known === undefined) return fetchNow();
      return age() < maxAgeMs ? known : fetchNow().catch(() => known ?? []);
    },
    refreshed: async () => (age() < options.refreshEveryMs ? undefined : fetchNow()),
  };
};

/** In milliseconds. Each delivery of a wrongly encoded key would repeat the same. */
const pauseMs = 60_000;

const forms = { hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/_-]{2,}={0,2}$/ } as const;

/** The bytes that a key may encode, each as a key whose `text` names the encoding. */
const decodingsOf = (text: string): readonly SigningKey[] =>
  (['hex', 'base64'] as const)
    .filter((encoding) => forms[encoding].test(text))
    // Node's base64 also decodes the alphabet for URLs.
    .map((encoding) => ({ text: encoding, secret: createSecretKey(Buffer.from(text, encoding)) }));

/** The same of what the text has more than the key, such as quotes, and the key without it. */
const explanationsOf = ({ text }: SigningKey): readonly SigningKey[] => [
  ...decodingsOf(text),
  ...secretsIn(text).flatMap(({ fault, text: inner }) =>
    [signingKeyOf(inner), ...decodingsOf(inner)].map(({ secret }) => ({ text: fault, secret })),
  ),
];

/** Logs and counts it if a refused signature fits what the text of one of the keys encodes or contains. It stays refused. */
export type ExplainMismatch = (
  signature: string | undefined,
  body: Uint8Array,
  keys: readonly SigningKey[],
) => void;

/**
 * The encoding of the shared key is not shown ("Events", rules 1 and 6), so its text is taken as it is. If the provider signs with
 * the bytes that the text encodes, or if the secret was filled with more than the key, every delivery is refused as if it were forged.
 * That is reported once a minute at most.
 */
export const explainMismatches = (
  telemetry: Pick<Telemetry, 'count' | 'log'>,
  now: () => Date,
): ExplainMismatch => {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (signature, body, keys) => {
    if (now().getTime() - reportedAt < pauseMs) return;
    const found = verifySignature(signature, body, keys.flatMap(explanationsOf));
    if (!found.verified) return;
    reportedAt = now().getTime();
    telemetry.count('WebhookKeyEncoded');
    const encoding = found.key;
    telemetry.log('The provider signs with what the text of the signing key encodes.', { encoding }, 'error');
  };
};
