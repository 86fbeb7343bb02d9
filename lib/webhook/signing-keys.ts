import { type SigningKey, signingKeyOf } from './signing-key.ts';

/** The signing keys that a delivery may be signed with: the current one and the one before it. */
export type SigningKeys = {
  current(): Promise<readonly SigningKey[]>;
  /** Called after a mismatch: fetches again, but no more often than allowed. Undefined: not yet allowed. */
  refreshed(): Promise<readonly SigningKey[] | undefined>;
};

/** A key that was withdrawn is taken no longer than this, in milliseconds, by a function that knew it. */
const maxAgeMs = 5 * 60_000;

/**
 * Caches the keys, and fetches them again when they are old, and after a mismatch: then at most every
 * `refreshEveryMs`, shorter than the 30 s between two deliveries, so a rotation loses nothing, and long enough
 * that a flood of forgeries costs the secret store nothing. Where the store is down, what was known before still
 * verifies: a delivery is worth more than a withdrawal that is minutes late.
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
