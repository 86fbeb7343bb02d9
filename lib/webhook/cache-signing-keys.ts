import { type KeyText, type SigningKey, signingKeyOf } from './verify-signature.ts';

/** The current signing key and the previous one. A delivery may be signed with either. */
export type SigningKeys = {
  current(): Promise<readonly SigningKey[]>;
  /**
   * For use after a mismatch. Fetches the keys again, unless the last fetch is too recent. Throws what that fetch threw, because without
   * keys it is unknown whether the signature is wrong.
   */
  refreshed(): Promise<readonly SigningKey[]>;
};

/** How long, in milliseconds, the cache may hold a withdrawn key. If the secret store is down, it holds the key until the store is back. */
const maxAgeMs = 5 * 60_000;

/**
 * Caches the keys. They are fetched again when they are old, and after a mismatch. After mismatches they are fetched at most every
 * `refreshEveryMs`. That is less than the 30 s between two deliveries, so a rotation loses no delivery. It is long enough that forged
 * deliveries do not load the secret store. If the store is down, the cached keys still verify, because a lost delivery is worse than a late
 * withdrawal. `current` throws what `fetchKeys` throws if no keys are cached.
 */
export const cacheSigningKeys = (options: {
  readonly fetchKeys: () => Promise<readonly KeyText[]>;
  readonly refreshEveryMs: number;
  readonly now: () => Date;
}): SigningKeys => {
  let known: readonly SigningKey[] | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetched: Promise<readonly SigningKey[]> = Promise.resolve([]);

  const fetchNow = (): Promise<readonly SigningKey[]> => {
    triedAt = options.now().getTime();
    fetched = options.fetchKeys().then((texts) => {
      known = texts.map(({ text, version }) => signingKeyOf(text, version));
      return known;
    });
    return fetched;
  };
  const age = (): number => options.now().getTime() - triedAt;

  return {
    current: async () => {
      if (known === undefined) return fetchNow();
      return age() < maxAgeMs ? known : fetchNow().catch(() => known ?? []);
    },
    refreshed: () => (age() < options.refreshEveryMs ? fetched : fetchNow()),
  };
};
